// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.connection;

/**
 * Bytes of private data that a transport carries for the applications while they connect.
 *
 * <p>InfiniBand and RoCE: 56, 196 and 148 for a connection, 180, 136 and 136 for a datagram service (IBTA 12.6, less
 * the header of annex A11). iWARP: up to 512, less what MPA takes (RFC 5044, 6581).
 *
 * @param request in a request for a connection, or in the look-up of a datagram service
 * @param acceptance in the answer that accepts
 * @param rejection in the answer that refuses
 * @since 0.1.0
 */
public record PrivateDataLimits(int request, int acceptance, int rejection) {}
