package io.rdma4j.verbs;

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
        return Names.text(this);
    }

    /**
     * {@return the one of a name}
     *
     * @throws IllegalArgumentException if there is none
     */
    public static RimKind parse(String text) {
        return Names.parse(RimKind.class, text, "is no rim: auto, linux and portable are");
    }
}
