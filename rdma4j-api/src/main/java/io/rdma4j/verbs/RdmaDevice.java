package io.rdma4j.verbs;

/**
 * An RDMA device of this machine.
 *
 * <p>C: {@code struct ibv_device}. Thread safe.
 */
public interface RdmaDevice {
    /** {@return its name, such as {@code roce_lo}} C: {@code ibv_get_device_name}. */
    String name();

    /** {@return a number that stays the same while the machine runs} C: {@code ibv_get_device_index}. */
    int index();

    /** {@return its node's identifier} C: {@code ibv_get_device_guid}. */
    long nodeGuid();

    /** {@return what kind of node it is} C: {@code node_type}. */
    NodeType nodeType();

    /** {@return what carries its verbs} C: {@code transport_type}. */
    TransportType transport();

    /** {@return who carries out its work} */
    DeviceKind kind();

    /**
     * Opens it. C: {@code ibv_open_device}. A device may be opened several times; the contexts share
     * its network address.
     *
     * @throws RdmaException EADDRINUSE if another process holds the device's network address, EADDRNOTAVAIL if its
     *         interface has none, ENODEV if the device is gone, ENOMEM if the system gives no more file descriptors,
     *         EINVAL or EOPNOTSUPP naming an option of the device that is wrong or does not work here
     */
    DeviceContext open() throws RdmaException;
}
