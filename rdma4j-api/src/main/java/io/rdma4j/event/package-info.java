// SPDX-License-Identifier: Apache-2.0
/**
 * Event queues, and how threads wait for events.
 *
 * <p>This is not part of the interface for programs, and changes with the providers: programs use {@link
 * io.rdma4j.verbs.WaitChannel} and {@link io.rdma4j.verbs.WaitSet}. Devices publish from any thread. Applications wait for one channel, an
 * {@link io.rdma4j.event.EventSource}, or for many channels at once in a set. A thread that waits may drive a device
 * meanwhile ({@link io.rdma4j.event.ProgressDriver}). This is the layer below the verbs and knows only the JDK. So the
 * creator of a queue supplies the exceptions that end waits ({@link io.rdma4j.event.WaitFailures}). Start reading at
 * {@link io.rdma4j.event.EventQueue}.
 */
@NullMarked
package io.rdma4j.event;

import org.jspecify.annotations.NullMarked;
