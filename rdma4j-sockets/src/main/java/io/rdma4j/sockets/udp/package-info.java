// SPDX-License-Identifier: Apache-2.0
/**
 * The UDP sockets at which peers introduce themselves before they exchange datagrams over RDMA. They are the system's, opened by the JDK's
 * provider; no program sees them. It knows nothing of verbs and of what is in a message. Start with {@code UdpSocket}.
 */
@org.jspecify.annotations.NullMarked
package io.rdma4j.sockets.udp;
