// SPDX-License-Identifier: Apache-2.0
/**
 * Compares the cost of a post and a poll in C and in Java, without the work of a driver: {@code benchmarks/verbs}.
 *
 * <p>Both call the same libibverbs, which is built for this and whose driver does almost nothing (the folder
 * {@code src/main/c}). Knows the API and native devices. Start reading at
 * {@link io.rdma4j.benchmarks.verbs.VerbsCost}.
 */
@NullMarked
package io.rdma4j.benchmarks.verbs;

import org.jspecify.annotations.NullMarked;
