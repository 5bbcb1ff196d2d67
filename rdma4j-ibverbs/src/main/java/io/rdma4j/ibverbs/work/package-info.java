// SPDX-License-Identifier: Apache-2.0
/**
 * The requests that a queue of the library has and that have not completed, which the library does not tell. Start reading at {@link
 * io.rdma4j.ibverbs.work.OutstandingWork}. Knows numbers and no object.
 */
@NullMarked
package io.rdma4j.ibverbs.work;

import org.jspecify.annotations.NullMarked;
