package io.rdma4j.softnic.options;

/**
 * How packets of a software device travel that stay on this machine. Those of the connection manager and of multicast groups
 * always take the network, which knows who listens.
 */
public enum Loopback {
    /**
     * {@link #DIRECT} within a device, {@link #SHARED} to other processes of the same user where they can share memory; but
     * {@link #NETWORK} if packets are recorded or the network is made worse.
     */
    AUTO,
    /**
     * To a queue pair of the same device and process from memory to memory, many packets of a message as one, in the thread
     * that sends: the network stack, recordings and impairments see nothing of it. All others through the network stack.
     */
    DIRECT,
    /**
     * To processes of the same user, this one included, through memory that both have mapped: the network stack, recordings
     * and impairments see nothing of it. On Linux alone; elsewhere the device cannot be opened so.
     */
    SHARED,
    /** All through the network stack, as to another machine. */
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
        return Names.parse(Loopback.class, text,
                "is no loopback: auto, direct, shared and network are");
    }
}
