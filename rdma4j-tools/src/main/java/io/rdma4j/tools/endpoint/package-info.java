/**
 * What every tool's own side consists of: verbs' objects that are closed together, and queue pairs that are connected by
 * hand, from state to state.
 *
 * <p>{@code OpenObjects} closes, {@code QueuePairAddress} is what the sides tell each other, {@code LocalPort} connects.
 * Knows the API alone, no tool. Start reading at {@code LocalPort}.
 */
@NullMarked
package io.rdma4j.tools.endpoint;

import org.jspecify.annotations.NullMarked;
