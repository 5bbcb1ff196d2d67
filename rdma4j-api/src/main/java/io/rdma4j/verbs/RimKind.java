package io.rdma4j.verbs;

import java.util.Locale;

/** How a software device reaches the network. */
public enum RimKind {
    /** The fastest that works here. */
    AUTO,
    /**
     * The system calls of Linux, which carry many packets in one. Needs native access:
     * {@code --enable-native-access=ALL-UNNAMED}.
     */
    LINUX,
    /** The datagram channels of the JDK, which are there on every system. */
    PORTABLE;

    /** {@return the name as the property {@code rdma4j.rim} has it} */
    public String text() {
        return name().toLowerCase(Locale.ROOT);
    }

    /**
     * {@return the one of a name}
     *
     * @throws IllegalArgumentException if there is none
     */
    public static RimKind parse(String text) {
        for (RimKind kind : values()) {
            if (kind.text().equals(text)) {
                return kind;
            }
        }
        throw new IllegalArgumentException(
                "'" + text + "' is no rim: auto, linux and portable are");
    }
}
