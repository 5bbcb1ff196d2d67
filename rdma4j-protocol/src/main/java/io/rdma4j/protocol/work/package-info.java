/**
 * What the protocol of a queue pair needs from whoever hosts it: queues, memory, completions.
 *
 * <p>The host owns threads and locks; the protocol sees requests in order, memory that answers to keys,
 * and a place to report to. Knows the verbs' values, no packet.
 */
@NullMarked
package io.rdma4j.protocol.work;

import org.jspecify.annotations.NullMarked;
