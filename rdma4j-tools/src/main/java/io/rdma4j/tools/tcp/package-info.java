// SPDX-License-Identifier: Apache-2.0
/**
 * The TCP connection by which two sides of a tool prepare their RDMA connection.
 *
 * <p>{@code OutOfBandChannel} listens, accepts, connects, transfers bytes and closes; only the wait for a client has no
 * bound. The contents are up to the tool. Knows only the JDK and {@code timing}.
 */
@NullMarked
package io.rdma4j.tools.tcp;

import org.jspecify.annotations.NullMarked;
