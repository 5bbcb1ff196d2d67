// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.verbs;

/**
 * An RDMA device of this machine.
 *
 * <p>C: {@code struct ibv_device}. Thread safe.
 *
 * <p>Implemented by providers; a later version adds methods only as {@code default}.
 *
 * @since 0.1.0
 */
public interface RdmaDevice {
    /** {@return its name, such as {@code roce_lo}} C: {@code ibv_get_device_name}. */
    String name();

    /** {@return a number that stays the same while the machine runs} C: {@code ibv_get_device_index}. */
    int index();

    /** {@return the identifier (GUID) of its node} C: {@code ibv_get_device_guid}. */
    long nodeGuid();

    /** {@return what kind of node it is} C: {@code node_type}. */
    NodeType nodeType();

    /** {@return the number of that kind in verbs.h, also where it is UNKNOWN} C: {@code node_type}. */
    default int nodeTypeCode() {
        return nodeType().code();
    }

    /** {@return its transport} C: {@code transport_type}. */
    TransportType transport();

    /** {@return the number of the transport in verbs.h, also where it is UNKNOWN} C: {@code transport_type}. */
    default int transportCode() {
        return transport().code();
    }

    /** {@return whether it is a native device or a software device of rdma4j} */
    DeviceKind kind();

    /**
     * Opens it. C: {@code ibv_open_device}. A device may be opened several times; the contexts share
     * its network address.
     *
     * @throws RdmaException EADDRINUSE if another process uses the device's network address, EADDRNOTAVAIL if its
     *         interface has none, ENODEV if the device was removed, ENOMEM if the system has no file descriptor left,
     *         EINVAL or EOPNOTSUPP naming an option of the device that is wrong or does not work here
     */
    DeviceContext open() throws RdmaException;
}
