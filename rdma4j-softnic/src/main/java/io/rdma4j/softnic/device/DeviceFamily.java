// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.device;

import io.rdma4j.connection.PortSpace;
import io.rdma4j.softnic.options.DeviceOptions;
import io.rdma4j.softnic.verbs.Transport;
import io.rdma4j.softnic.verbs.TransportHost;
import io.rdma4j.spi.CmDevice;
import io.rdma4j.spi.PortAuthority;
import io.rdma4j.verbs.NodeType;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.TransportType;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.util.Map;
import java.util.function.Function;

/** The devices of one transport: their names, their types, and how to open one. Thread safe. */
public interface DeviceFamily {
    /** {@return the prefix of device names; the name of the network interface follows it} */
    String prefix();

    /** {@return the node type of its devices} */
    NodeType nodeType();

    /** {@return the transport of their queue pairs} */
    TransportType transport();

    /** {@return the allocator of their service ports} */
    PortAuthority portAuthority();

    /** {@return as {@link CmDevice#seesListener}} */
    boolean seesListener(PortSpace space, InetAddress source, InetSocketAddress destination);

    /**
     * A transport that was chosen but not started.
     *
     * @param options the options for opening it, all resolved
     * @param details facts about it besides its attributes, by name, as text for people
     * @param transport creates it for its device
     */
    record Opening(DeviceOptions options, Map<String, String> details,
            Function<TransportHost, Transport> transport) {}

    /**
     * {@return the transport of a device that is about to be opened}
     *
     * @param on the network interface of the device
     * @param nodeGuid of the device
     * @param options the wishes of the application and of the system properties
     * @throws RdmaException EINVAL, EOPNOTSUPP or another error that names the impossible option
     */
    Opening open(NetworkInterface on, long nodeGuid, SoftNicOptions options) throws RdmaException;
}
