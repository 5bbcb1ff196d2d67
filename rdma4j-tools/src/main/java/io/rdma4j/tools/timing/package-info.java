// SPDX-License-Identifier: Apache-2.0
/**
 * How tools pass time: pauses between two polls of a queue, and rounds of messages before those that are measured.
 *
 * <p>{@code Backoff} is for threads that poll, {@code Pause} for those that wait, {@code WarmUpRounds} repeats messages
 * until the JVM has compiled their code, which {@code JitActivity} finds out. Knows only the JDK. Start reading at
 * {@code WarmUpRounds}.
 */
@NullMarked
package io.rdma4j.tools.timing;

import org.jspecify.annotations.NullMarked;
