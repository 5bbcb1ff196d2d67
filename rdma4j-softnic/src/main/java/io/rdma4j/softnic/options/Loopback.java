package io.rdma4j.softnic.options;

/** How packets travel that a software device sends to itself: to a queue pair of the same device and process. */
public enum Loopback {
    /** {@link #DIRECT} unless packets are recorded or the network is made worse. */
    AUTO,
    /**
     * From memory to memory, many packets of a message as one, in the thread that sends: the network stack,
     * recordings and impairments see nothing of it.
     */
    DIRECT,
    /** Through the network stack, as to another machine. */
    NETWORK;

    /** {@return the name as the property {@code rdma4j.loopback} has it} */
    public String text() {
        return Names.text(this);
    }

    /**
     * {@return the one of a name}
     *
     * @throws IllegalArgumentException if there is none
     */
    public static Loopback parse(String text) {
        return Names.parse(Loopback.class, text, "is no loopback: auto, direct and network are");
    }
}
