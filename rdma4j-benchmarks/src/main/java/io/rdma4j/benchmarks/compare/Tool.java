// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.benchmarks.compare;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/**
 * A program that must be there.
 *
 * @param name what it is called, or its path from the folder that measurements are started in
 * @param remedy what helps if it is not there
 */
record Tool(String name, String remedy) {
    static final Tool IPERF = ofDebian("iperf3", "iperf3");
    static final Tool UCX = ofDebian("ucx_perftest", "ucx-utils");
    static final Tool FABRIC = ofDebian("fi_pingpong", "libfabric-bin");
    static final Tool RDMA4J = new Tool("./rdma4j", "start benchmarks/compare, which goes there");

    private static Tool ofDebian(String name, String debianPackage) {
        return new Tool(name, "on Debian: apt-get install " + debianPackage);
    }

    /** {@return why it cannot be used, if it cannot} */
    Optional<String> obstacle() {
        String path = name.contains("/") ? "." : System.getenv("PATH");
        if (path != null) {
            for (String directory : path.split(File.pathSeparator, -1)) {
                if (Files.isExecutable(Path.of(directory, name))) {
                    return Optional.empty();
                }
            }
        }
        return Optional.of("there is no program " + name + "; " + remedy);
    }
}
