// SPDX-License-Identifier: Apache-2.0
/**
 * What the protocol of a queue pair needs from its host: queues, memory, completions.
 *
 * <p>The host owns threads and locks. The protocol sees requests in order, finds memory by its keys,
 * and reports to the host. Knows the verbs, but no packet.
 */
@NullMarked
package io.rdma4j.protocol.work;

import org.jspecify.annotations.NullMarked;
