// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.ibcm;

import io.rdma4j.protocol.ibcm.IbConnectionManager;
import io.rdma4j.softnic.engine.EngineDriver;
import io.rdma4j.verbs.Gid;
import io.rdma4j.verbs.Mtu;
import io.rdma4j.verbs.RdmaException;

import java.net.InetAddress;
import java.util.List;

/** What connections need of their open device. */
public interface IbServices {
    /** {@return the driver of the engine} */
    EngineDriver driver();

    /** {@return the connection manager's protocol, for the engine's owner} */
    IbConnectionManager connectionManager();

    /**
     * Directs requests for a service to this process, among the processes that share the device's addresses. Each call
     * must be undone once, by both of the following calls in this order.
     *
     * @param service the lower half of its service ID: 16 bits of its port space, 16 of its port; IBTA annex A11.3
     * @throws RdmaException ENOMEM if the processes listen at too many services
     */
    void steer(int service) throws RdmaException;

    /** New requests may go to another process that listens at the service. */
    void steerOnlyRepetitions(int service);

    /** No request comes here any more. Does not wait. */
    void stopSteering(int service);

    /** Sets the wait asked of a peer whose message finds no receive for the first time, a code; for the engine's owner. */
    void firstRnrTimer(int queuePair, int code);

    /** {@return the GID table; an empty entry is {@link Gid#ZERO}} */
    List<Gid> gids();

    /** {@return the address that a GID stands for, a link-local one with the interface of the device} */
    InetAddress addressOf(Gid gid);

    /** {@return the largest path MTU whose packets pass between two addresses, as far as this side's system knows} */
    Mtu pathMtu(Gid local, Gid remote);
}
