package io.rdma4j.verbs;

/**
 * One entry of a port's GID table.
 *
 * <p>C: {@code struct ibv_gid_entry}, {@code ibv_query_gid_ex}, {@code ibv_query_gid_table}.
 *
 * @param gid the identifier ({@code gid})
 * @param index its place in the table ({@code gid_index})
 * @param port the port, from 1 ({@code port_num})
 * @param type how its packets are framed ({@code gid_type})
 * @param interfaceIndex the index of the network interface below, or 0 ({@code ndev_ifindex})
 */
public record GidEntry(Gid gid, int index, int port, GidType type, int interfaceIndex) {}
