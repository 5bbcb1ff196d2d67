/**
 * The connection manager: how two queue pairs find each other, by datagrams on queue pair 1.
 *
 * <p>{@link io.rdma4j.protocol.ibcm.IbConnectionManager} is one device's; each connection is a
 * {@link io.rdma4j.protocol.ibcm.IbCmConnection} with the states of the standard; datagram services are
 * looked up in {@link io.rdma4j.protocol.ibcm.DatagramServices}; messages are records of
 * {@link io.rdma4j.protocol.ibcm.CmMessage}. Time and identifiers come from outside; knows no socket.
 * Source: IBTA chapter 12 and annex A11 (the IP addressing header in private data).
 */
@NullMarked
package io.rdma4j.protocol.ibcm;

import org.jspecify.annotations.NullMarked;
