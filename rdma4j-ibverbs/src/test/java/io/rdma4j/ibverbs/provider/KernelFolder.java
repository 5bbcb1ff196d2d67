// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.ibverbs.provider;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** What Linux tells of RDMA devices in files, in a directory of a test. */
record KernelFolder(Path root) {
    static final String ROCE_GID = "0000:0000:0000:0000:0000:ffff:7f00:0001";
    static final String NO_GID = "0000:0000:0000:0000:0000:0000:0000:0000";

    Path classes() {
        return root.resolve("sys/class");
    }

    Path device(String name) {
        return classes().resolve("infiniband").resolve(name);
    }

    /** An entry of the table of port 1, the interface being empty where the kernel names none. */
    KernelFolder gid(String device, int index, String gid, String networkInterface) {
        return gid(device, 1, index, gid, networkInterface);
    }

    KernelFolder gid(String device, int port, int index, String gid, String networkInterface) {
        String ports = "sys/class/infiniband/" + device + "/ports/" + port + "/";
        file(ports + "gids/" + index, gid);
        return networkInterface.isEmpty() ? this
                : file(ports + "gid_attrs/ndevs/" + index, networkInterface);
    }

    KernelFolder hardware(String networkInterface, String address) {
        return file("sys/class/net/" + networkInterface + "/address", address);
    }

    /** The kernel offers its verbs, and the connection manager, to programs. */
    KernelFolder verbs(String device) {
        return file("sys/class/infiniband_verbs/uverbs0/ibdev", device)
                .file("dev/infiniband/uverbs0", "").file("dev/infiniband/rdma_cm", "");
    }

    KernelFolder file(String path, String content) {
        try {
            Path file = root.resolve(path);
            Files.createDirectories(file.getParent());
            Files.writeString(file, content + "\n");
            return this;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
