// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.verbs;

/**
 * One entry of a port's GID table.
 *
 * <p>C: {@code struct ibv_gid_entry}, {@code ibv_query_gid_ex}, {@code ibv_query_gid_table}.
 *
 * <p>Implemented by rdma4j alone; a later version adds methods only as {@code default}.
 *
 * @since 0.1.0
 */
public interface GidEntry {
    /** {@return the identifier} C: {@code gid}. */
    Gid gid();

    /** {@return its place in the table} C: {@code gid_index}. */
    int index();

    /** {@return the port, from 1} C: {@code port_num}. */
    int port();

    /** {@return how its packets are framed} C: {@code gid_type}. */
    GidType type();

    /** {@return the number of that type in verbs.h, also where it is UNKNOWN} C: {@code gid_type}. */
    int typeCode();

    /** {@return the index of the network interface below, or 0} C: {@code ndev_ifindex}. */
    int interfaceIndex();
}
