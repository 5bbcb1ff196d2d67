// SPDX-License-Identifier: Apache-2.0
/**
 * Completion queues of native devices, and how completions are read. Start reading at {@link
 * io.rdma4j.ibverbs.completion.NativeCompletionQueue}. Knows no queue pair.
 */
@NullMarked
package io.rdma4j.ibverbs.completion;

import org.jspecify.annotations.NullMarked;
