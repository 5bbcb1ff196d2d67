// SPDX-License-Identifier: Apache-2.0
/**
 * The tool {@code rping} of librdmacm; it interoperates with the C program.
 *
 * <p>{@code Rping} is the command, {@code RpingSession} one connection with its buffers, {@code RpingQueuePair} its
 * queue pair and the waits for completions. Knows only the API and the shared parts of the tools. Start reading at
 * {@code Rping}.
 */
@NullMarked
package io.rdma4j.tools.rping;

import org.jspecify.annotations.NullMarked;
