/**
 * The rping of librdmacm, able to talk to the C program.
 *
 * <p>{@code Rping} is the command, {@code RpingSession} one connection with its buffers, {@code RpingQueuePair} its
 * queue pair and how completions are waited for. Knows the API alone. Start reading at {@code Rping}.
 */
@NullMarked
package io.rdma4j.tools.rping;

import org.jspecify.annotations.NullMarked;
