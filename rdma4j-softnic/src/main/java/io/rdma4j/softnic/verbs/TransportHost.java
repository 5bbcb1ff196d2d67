// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.verbs;

import io.rdma4j.softnic.engine.EngineDriver;
import io.rdma4j.softnic.memory.LendableMemory;
import io.rdma4j.verbs.Gid;

import java.net.InetAddress;
import java.util.List;
import java.util.function.IntSupplier;

/** What a transport needs of its open device. */
public interface TransportHost {
    /** {@return the driver of the transport's engine, after the device was constructed} */
    EngineDriver driver();

    /** {@return numbers that others cannot guess} */
    IntSupplier random();

    /** The transport can lend memory to other processes; called at most once, while the device is made. */
    void lend(LendableMemory memory);

    /** {@return all objects of the device in this process} */
    NicObjects objects();

    /** {@return the addresses of the device, each at its place; an empty one is {@link Gid#ZERO}} */
    List<Gid> gids();

    /** {@return the address that a GID stands for, a link-local one with the interface of the device} */
    InetAddress addressOf(Gid gid);

    /** {@return the bytes of the longest IP packet of the network interface} */
    int interfaceMtu();

    /** {@return whether the device is gone: its network interface was removed, or it has failed} Ids are told so. */
    boolean isGone();
}
