// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.ibverbs.device;

import io.rdma4j.device.ReportedGid;
import io.rdma4j.verbs.Gid;
import io.rdma4j.verbs.GidEntry;
import io.rdma4j.verbs.GidType;

import java.io.IOException;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Reads the entries of a GID table from the kernel's files, for libraries without this query: those before {@code
 * IBVERBS_1.11}, of rdma-core 32.
 *
 * <p>Source: {@code Documentation/ABI/stable/sysfs-class-infiniband} of Linux, {@code gid_attrs}.
 *
 * @param device the folder in which the kernel describes the device
 */
public record GidFiles(Path device) {
    private static final String ROCE_V2 = "RoCE v2";

    /**
     * @param otherType the type of entries that are not RoCEv2: the kernel has one word for InfiniBand and RoCEv1
     */
    public GidEntry entry(Gid gid, int port, int index, GidType otherType) {
        return new ReportedGid(gid, index, port,
                (text("types", port, index).equals(ROCE_V2) ? GidType.ROCE_V2 : otherType).code(),
                interfaceIndex(text("ndevs", port, index)));
    }

    /** {@return the contents of a file; empty if it cannot be read, such as {@code ndevs} of InfiniBand} */
    private String text(String attribute, int port, int index) {
        try {
            return Files.readString(device.resolve("ports").resolve(String.valueOf(port))
                    .resolve("gid_attrs").resolve(attribute).resolve(String.valueOf(index)))
                    .strip();
        } catch (IOException _) {
            return "";
        }
    }

    /** {@return the number of a network interface, 0 for none} */
    private static int interfaceIndex(String name) {
        if (name.isEmpty()) {
            return 0;
        }
        try {
            NetworkInterface named = NetworkInterface.getByName(name);
            return named == null ? 0 : named.getIndex();
        } catch (SocketException _) {
            return 0;
        }
    }
}
