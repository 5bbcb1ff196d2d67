// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.verbs;

/**
 * One entry of a port's GID table.
 *
 * <p>C: {@code struct} {@index ibv_gid_entry}, {@index ibv_query_gid_ex}, {@index ibv_query_gid_table}.
 *
 * <p>Implemented by rdma4j alone; a later version adds methods only as {@code default}.
 *
 * @since 0.1.0
 */
public interface GidEntry {
    /** {@return the identifier} C: {@index gid of struct ibv_gid_entry}. */
    Gid gid();

    /** {@return its place in the table} C: {@index gid_index of struct ibv_gid_entry}. */
    int index();

    /** {@return the port, from 1} C: {@index port_num of struct ibv_gid_entry}. */
    int port();

    /** {@return how its packets are framed} C: {@index gid_type of struct ibv_gid_entry}. */
    GidType type();

    /**
     * {@return the number of that type in verbs.h, also where it is UNKNOWN} C:
     * {@index gid_type of struct ibv_gid_entry}.
     */
    int typeCode();

    /** {@return the index of the network interface below, or 0} C: {@index ndev_ifindex of struct ibv_gid_entry}. */
    int interfaceIndex();
}
