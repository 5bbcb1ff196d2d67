// SPDX-License-Identifier: Apache-2.0
/**
 * What state machines and devices count. It knows nothing of them: they report to a counter by {@link
 * io.rdma4j.protocol.work.QueuePairHost#count}, and a device keeps the values.
 */
@NullMarked
package io.rdma4j.protocol.count;

import org.jspecify.annotations.NullMarked;
