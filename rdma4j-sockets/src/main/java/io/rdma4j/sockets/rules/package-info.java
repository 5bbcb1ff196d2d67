// SPDX-License-Identifier: Apache-2.0
/**
 * Rules that say what goes over RDMA and what over TCP: text becomes {@link io.rdma4j.sockets.rules.SocketRules}, and an address becomes
 * the {@link io.rdma4j.sockets.rules.Rule} that decides. Knows no channel and no device, and looks up no name.
 */
@NullMarked
package io.rdma4j.sockets.rules;

import org.jspecify.annotations.NullMarked;
