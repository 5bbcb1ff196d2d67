/**
 * Queues of events, and the waiting for them.
 *
 * <p>Devices publish from any thread; applications wait in channels, which are
 * {@link io.rdma4j.event.EventSource}s, or for many of them at once in a set. A thread that waits may drive a device
 * meanwhile ({@link io.rdma4j.event.ProgressDriver}). The floor below the verbs: it knows the JDK alone, so who makes
 * a queue says which exception its waits end with ({@link io.rdma4j.event.WaitFailures}). Start reading at
 * {@link io.rdma4j.event.EventQueue}.
 */
@NullMarked
package io.rdma4j.event;

import org.jspecify.annotations.NullMarked;
