// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.benchmarks.compare;

import java.nio.file.Path;
import java.util.List;

/** How processes of a measurement are started. */
final class Launch {
    /** The class to start. */
    static final String MAIN = "io.rdma4j.benchmarks.Main";

    private Launch() {}

    /** {@return this JVM's program with the flags all of them have; Agrona needs those that open and allow} */
    static List<String> java() {
        return List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "--enable-native-access=ALL-UNNAMED", "-XX:+UseSerialGC", "-Xms128m", "-Xmx1g",
                "--sun-misc-unsafe-memory-access=allow",
                "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED",
                "--add-opens=java.base/jdk.internal.misc=ALL-UNNAMED");
    }
}
