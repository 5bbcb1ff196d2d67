// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.protocol.work;

/**
 * Where a datagram goes: what its transport has made of an address handle. It is handed on with the request; the transport alone
 * knows what is in it.
 */
public interface Route {}
