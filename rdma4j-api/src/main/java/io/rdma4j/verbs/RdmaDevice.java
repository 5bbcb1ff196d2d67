// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.verbs;

/**
 * An RDMA device of this machine.
 *
 * <p>C: {@code struct} {@index ibv_device}. Thread safe.
 *
 * <p>Implemented by providers; a later version adds methods only as {@code default}.
 *
 * @since 0.1.0
 */
public interface RdmaDevice {
    /** {@return its name, such as {@code roce_lo}} C: {@index ibv_get_device_name}, {@index name of struct ibv_device}. */
    String name();

    /** {@return a number that stays the same while the machine runs} C: {@index ibv_get_device_index}. */
    int index();

    /** {@return the identifier (GUID) of its node} C: {@index ibv_get_device_guid}. */
    long nodeGuid();

    /** {@return what kind of node it is} C: {@index node_type of struct ibv_device}. */
    NodeType nodeType();

    /** {@return the number of that kind in verbs.h, also where it is UNKNOWN} C: {@index node_type of struct ibv_device}. */
    default int nodeTypeCode() {
        return nodeType().code();
    }

    /** {@return its transport} C: {@index transport_type of struct ibv_device}. */
    TransportType transport();

    /**
     * {@return the number of the transport in verbs.h, also where it is UNKNOWN} C:
     * {@index transport_type of struct ibv_device}.
     */
    default int transportCode() {
        return transport().code();
    }

    /** {@return whether it is a native device or a software device of rdma4j} */
    DeviceKind kind();

    /**
     * Opens it. C: {@index ibv_open_device}. A device may be opened several times; the contexts share
     * its network address.
     *
     * @return the device, open; the caller closes it
     * @throws RdmaException EADDRINUSE if another process uses the device's network address, EADDRNOTAVAIL if its
     *         interface has none, ENODEV if the device was removed, ENOMEM if the system has no file descriptor left,
     *         EINVAL or EOPNOTSUPP naming an option of the device that is wrong or does not work here
     */
    DeviceContext open() throws RdmaException;
}
