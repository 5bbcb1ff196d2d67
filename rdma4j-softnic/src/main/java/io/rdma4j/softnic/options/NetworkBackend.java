// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.options;

/** How a software device reaches the network: its network back-end. */
public enum NetworkBackend {
    /** The fastest that works here. */
    AUTO,
    /**
     * The system calls of Linux, which carry many packets in one. Needs native access:
     * {@code --enable-native-access=ALL-UNNAMED}.
     */
    LINUX,
    /** The datagram channels of the JDK, which every system has. */
    PORTABLE;

    /** {@return the name in the property {@code rdma4j.network}} */
    public String text() {
        return Names.text(this);
    }

    /**
     * {@return the constant with a name}
     *
     * @throws IllegalArgumentException if there is none
     */
    public static NetworkBackend parse(String text) {
        return Names.parse(NetworkBackend.class, text,
                "is no network back-end: auto, linux and portable are");
    }
}
