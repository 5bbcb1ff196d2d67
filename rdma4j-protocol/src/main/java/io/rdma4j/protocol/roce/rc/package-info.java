// SPDX-License-Identifier: Apache-2.0
/**
 * The reliable connection: every message arrives once and in order, or its sender learns why not.
 *
 * <p>A queue pair consists of three state machines, as in the standard. The {@code RcRequester} turns send requests
 * into packets. The {@code RcResponder} executes the requests that arrive, and its {@code RcResponseSender} sends the
 * responses. The {@code RcCompleter} matches responses to requests. {@link io.rdma4j.protocol.roce.rc.RcQueuePair} joins
 * them and has the state; start reading there. Source: IBTA 9.7. Knows no thread, socket or clock.
 */
@NullMarked
package io.rdma4j.protocol.roce.rc;

import org.jspecify.annotations.NullMarked;
