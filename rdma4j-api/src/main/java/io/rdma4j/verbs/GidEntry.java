package io.rdma4j.verbs;

/**
 * One entry of a port's GID table.
 *
 * <p>C: {@code struct ibv_gid_entry}, {@code ibv_query_gid_ex}, {@code ibv_query_gid_table}.
 *
 * @param gid the identifier
 * @param index its place in the table
 * @param port the port, from 1
 * @param type how its packets are framed
 * @param interfaceIndex the index of the network interface below, or 0
 */
public record GidEntry(Gid gid, int index, int port, GidType type, int interfaceIndex) {}
