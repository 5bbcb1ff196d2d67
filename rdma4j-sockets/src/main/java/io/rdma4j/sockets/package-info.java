// SPDX-License-Identifier: Apache-2.0
/**
 * Channels over RDMA, with librdmacm's rsocket protocol on the wire: the other end may be a C program.
 */
@NullMarked
package io.rdma4j.sockets;

import org.jspecify.annotations.NullMarked;
