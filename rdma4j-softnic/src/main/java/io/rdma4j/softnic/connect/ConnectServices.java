package io.rdma4j.softnic.connect;

import io.rdma4j.protocol.ibcm.IbConnectionManager;
import io.rdma4j.softnic.engine.EngineDriver;
import io.rdma4j.softnic.network.PortSharing;
import io.rdma4j.verbs.Gid;
import io.rdma4j.verbs.Mtu;

import java.util.List;

/** What connections need of the open device they are made by. */
public interface ConnectServices {
    /** {@return who runs the engine} */
    EngineDriver driver();

    /** {@return the connection manager's protocol, for the engine's owner} */
    IbConnectionManager connectionManager();

    /** {@return who else has the device's addresses} */
    PortSharing sharing();

    /** {@return the GID table; an empty entry is {@link Gid#ZERO}} */
    List<Gid> gids();

    /** {@return the largest path MTU whose packets fit the interface} */
    Mtu activeMtu();
}
