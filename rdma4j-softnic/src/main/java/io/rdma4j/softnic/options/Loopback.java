// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.options;

/**
 * The path of a software device's packets that stay on this machine. Packets of the connection manager and of multicast
 * groups always take the network, which finds the listening processes.
 */
public enum Loopback {
    /**
     * {@link #DIRECT} within a device, {@link #SHARED} to other processes of the same user if they can share memory; but
     * {@link #NETWORK} if packets are recorded or impaired.
     */
    AUTO,
    /**
     * Packets to a queue pair of the same device and process are copied from memory to memory, many packets of a message at
     * once, by the sending thread; they bypass the network stack, recordings and impairments. All other packets take the
     * network stack.
     */
    DIRECT,
    /**
     * Packets to processes of the same user, including this one, take shared memory; they bypass the network stack,
     * recordings and impairments. Only on Linux; on other systems the device cannot be opened with this option.
     */
    SHARED,
    /** All through the network stack, as to another machine. */
    NETWORK;

    /** {@return the name in the property {@code rdma4j.loopback}} */
    public String text() {
        return Names.text(this);
    }

    /**
     * {@return the constant with a name}
     *
     * @throws IllegalArgumentException if there is none
     */
    public static Loopback parse(String text) {
        return Names.parse(Loopback.class, text,
                "is no loopback: auto, direct, shared and network are");
    }
}
