// SPDX-License-Identifier: Apache-2.0
/**
 * The local end of a tool: verbs' objects that are closed together, and queue pairs that the tool itself connects, state
 * by state.
 *
 * <p>{@code OpenObjects} closes them, {@code QueuePairAddress} is what the sides exchange, {@code LocalPort} connects,
 * {@code Establishment} lets a client of the connection manager try a second device.
 * Knows only the API, and no tool. Start reading at {@code LocalPort}.
 */
@NullMarked
package io.rdma4j.tools.endpoint;

import org.jspecify.annotations.NullMarked;
