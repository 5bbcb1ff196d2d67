package io.rdma4j.ibverbs.verbs;

import io.rdma4j.verbs.Gid;
import io.rdma4j.verbs.GidEntry;
import io.rdma4j.verbs.GidType;

import java.io.IOException;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * What the kernel says of entries of a GID table in files, for libraries that do not tell it: those before
 * {@code IBVERBS_1.11}, of rdma-core 32.
 *
 * <p>Source: {@code Documentation/ABI/stable/sysfs-class-infiniband} of Linux, {@code gid_attrs}.
 *
 * @param device the folder in which the kernel describes the device
 */
record GidFiles(Path device) {
    private static final String ROCE_V2 = "RoCE v2";

    /** @param otherType what an entry is that is not of RoCEv2: the kernel has one word for InfiniBand and RoCEv1 */
    GidEntry entry(Gid gid, int port, int index, GidType otherType) {
        return new GidEntry(gid, index, port,
                text("types", port, index).equals(ROCE_V2) ? GidType.ROCE_V2 : otherType,
                interfaceIndex(text("ndevs", port, index)));
    }

    /** {@return what a file says, nothing if it cannot be read, as {@code ndevs} of InfiniBand} */
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
