// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.verbs;

import io.rdma4j.verbs.Gid;
import io.rdma4j.verbs.RdmaException;
import org.jspecify.annotations.Nullable;

import java.net.InetAddress;
import java.net.NetworkInterface;
import java.util.List;

/** What the objects of the verbs need of the one port of their device. For any thread. */
public interface PortServices {
    /** {@return the network interface it is on} */
    NetworkInterface networkInterface();

    /** {@return whether the network interface is up at this moment} */
    boolean isUp();

    /** {@return whether the device is gone: its network interface has vanished, or it has failed} */
    boolean isGone();

    /** {@return the bytes of the longest IP packet of the network interface} */
    int mtuBytes();

    /** {@return the GID table; an empty entry is {@link Gid#ZERO}} */
    List<Gid> gids();

    /** {@return the addresses in the GID table} */
    List<InetAddress> addresses();

    /**
     * Claims the addresses that another process had when the device was opened.
     *
     * @param address the needed address, null for all
     * @throws RdmaException EADDRINUSE naming the process that has it
     */
    void hold(@Nullable InetAddress address) throws RdmaException;

    /**
     * Adds an address to the device.
     *
     * @throws RdmaException EADDRINUSE naming who has it, EADDRNOTAVAIL if it is not an address of
     *         the device
     */
    void claim(InetAddress address) throws RdmaException;

    /** As {@link io.rdma4j.spi.CmContext#claimUsual}. */
    void claimUsual();
}
