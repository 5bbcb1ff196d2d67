package io.rdma4j.benchmarks.compare;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/**
 * A program that must be installed.
 *
 * @param name what it is called
 * @param debianPackage what has it on Debian and Ubuntu
 */
record Tool(String name, String debianPackage) {
    static final Tool IPERF = new Tool("iperf3", "iperf3");
    static final Tool UCX = new Tool("ucx_perftest", "ucx-utils");
    static final Tool FABRIC = new Tool("fi_pingpong", "libfabric-bin");

    /** {@return why it cannot be used, if it cannot} */
    Optional<String> obstacle() {
        String path = System.getenv("PATH");
        if (path != null) {
            for (String directory : path.split(File.pathSeparator, -1)) {
                if (Files.isExecutable(Path.of(directory, name))) {
                    return Optional.empty();
                }
            }
        }
        return Optional
                .of(name + " is not installed; on Debian: apt-get install " + debianPackage);
    }
}
