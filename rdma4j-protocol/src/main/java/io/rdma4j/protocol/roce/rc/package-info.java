/**
 * The reliable connection: every message arrives, once, in order, or its sender learns why not.
 *
 * <p>Three machines share a queue pair, as in the standard: the {@code RcRequester} turns send requests
 * into packets, the {@code RcResponder} carries out what arrives, and its {@code RcResponseSender} go back; the
 * {@code RcCompleter} matches answers to requests. {@link io.rdma4j.protocol.roce.rc.RcQueuePair} joins them and
 * holds the state; start reading there. Source: IBTA 9.7. Knows no thread, socket or clock.
 */
@NullMarked
package io.rdma4j.protocol.roce.rc;

import org.jspecify.annotations.NullMarked;
