// SPDX-License-Identifier: Apache-2.0
/**
 * The engine: decides which queue pair sends next, whose deadline has come, what completes, and which thread drives all
 * that.
 *
 * <p>One thread at a time owns it and runs a round: receive, timers, transmit. A thread that polls or waits for an event
 * becomes the owner if there is none; at other times a background thread does. Start reading at
 * {@link io.rdma4j.softnic.engine.Engine}. Knows no transport: a {@link io.rdma4j.softnic.engine.Link} sends and receives
 * for the queue pairs, by packets or otherwise.
 */
@NullMarked
package io.rdma4j.softnic.engine;

import org.jspecify.annotations.NullMarked;
