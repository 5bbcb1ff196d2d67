/**
 * What a post and a poll cost before a driver gets to work, in C and in Java: {@code benchmarks/verbs}.
 *
 * <p>Both call the same libibverbs, which is made for this and whose driver does next to nothing (the folder
 * {@code src/main/c}). Knows the API and native devices. Start reading at {@link io.rdma4j.benchmarks.verbs.VerbsCost}.
 */
@NullMarked
package io.rdma4j.benchmarks.verbs;

import org.jspecify.annotations.NullMarked;
