/**
 * The engine: carries packets between a device's queue pairs and its network.
 *
 * <p>One thread at a time owns it and runs a round: receive, timers, transmit. Whoever polls or
 * waits for an event becomes the owner if nobody is; a background thread owns it otherwise. {@link io.rdma4j.softnic.engine.Engine} is
 * the place to start. Knows protocols only by their interface and sockets only as a network.
 */
@NullMarked
package io.rdma4j.softnic.engine;

import org.jspecify.annotations.NullMarked;
