// SPDX-License-Identifier: Apache-2.0
/**
 * The InfiniBand connection manager: connects two queue pairs by datagrams on queue pair 1.
 *
 * <p>Each device has one {@link io.rdma4j.protocol.ibcm.IbConnectionManager}. A connection is an
 * {@link io.rdma4j.protocol.ibcm.IbCmConnection} with the states of the standard.
 * {@link io.rdma4j.protocol.ibcm.DatagramServices} looks up datagram services. Messages are records of
 * {@link io.rdma4j.protocol.ibcm.CmMessage}. Time and identifiers come from outside; knows no socket.
 * Source: IBTA chapter 12 and annex A11 (the IP addressing header in private data).
 */
@NullMarked
package io.rdma4j.protocol.ibcm;

import org.jspecify.annotations.NullMarked;
