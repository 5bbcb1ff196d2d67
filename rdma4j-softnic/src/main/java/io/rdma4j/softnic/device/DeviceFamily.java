package io.rdma4j.softnic.device;

import io.rdma4j.softnic.options.DeviceOptions;
import io.rdma4j.softnic.verbs.Transport;
import io.rdma4j.softnic.verbs.TransportHost;
import io.rdma4j.spi.PortAuthority;
import io.rdma4j.verbs.NodeType;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.TransportType;

import java.net.NetworkInterface;
import java.util.Map;
import java.util.function.Function;

/** The devices of one transport: what they are called, what they are, and how one is opened. Thread safe. */
public interface DeviceFamily {
    /** {@return what the name of a device begins with; the name of its network interface follows} */
    String prefix();

    /** {@return what kind of node its devices are} */
    NodeType nodeType();

    /** {@return what their queue pairs speak} */
    TransportType transport();

    /** {@return what allocates their service ports} */
    PortAuthority portAuthority();

    /**
     * A transport that has been chosen, and not begun to work.
     *
     * @param options how it is opened, with nothing left open
     * @param details what is to be known of it besides its attributes, by name, for people
     * @param transport makes it, for the device that it is of
     */
    record Opening(DeviceOptions options, Map<String, String> details,
            Function<TransportHost, Transport> transport) {}

    /**
     * {@return what carries the work of a device that is about to be opened}
     *
     * @param on the network interface of the device
     * @param nodeGuid of the device
     * @param options what is wanted, by the application and by system properties
     * @throws RdmaException EINVAL, EOPNOTSUPP or another error saying what of it is not possible
     */
    Opening open(NetworkInterface on, long nodeGuid, SoftNicOptions options) throws RdmaException;
}
