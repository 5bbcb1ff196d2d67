// SPDX-License-Identifier: Apache-2.0
/**
 * How a JVM that is started with {@code -javaagent:rdma4j-sockets.jar=RULES} gets channels by rules, so that its program needs neither
 * another option nor a change. Start reading at {@link io.rdma4j.sockets.launch.Agent}.
 */
@NullMarked
package io.rdma4j.sockets.launch;

import org.jspecify.annotations.NullMarked;
