/**
 * The engine: whose turn it is, whose deadline has come, what completes, and which thread drives all that.
 *
 * <p>One thread at a time owns it and runs a round: receive, timers, transmit. Whoever polls or waits for an event becomes
 * the owner if nobody is; a background thread owns it otherwise. {@link io.rdma4j.softnic.engine.Engine} is the place to
 * start. Knows no transport: a {@link io.rdma4j.softnic.engine.Link} carries what queue pairs send, in packets or otherwise.
 */
@NullMarked
package io.rdma4j.softnic.engine;

import org.jspecify.annotations.NullMarked;
