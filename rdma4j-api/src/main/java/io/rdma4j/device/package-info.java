// SPDX-License-Identifier: Apache-2.0
/**
 * Parts that devices of every kind are made of: what their objects count, report and say alike.
 *
 * <p>This is not part of the interface for programs, and changes with the providers. Start reading at {@link
 * io.rdma4j.device.ChildCounts}, which keeps objects open while others depend on them, {@link io.rdma4j.device.OwnedObjects}, which
 * closes them all, {@link io.rdma4j.device.AsyncEventSource} and {@link
 * io.rdma4j.device.RequestBatch}. Knows the verbs, the queues of {@code io.rdma4j.event} and the recorder of events; no connection, no
 * transport, and no device.
 */
@NullMarked
package io.rdma4j.device;

import org.jspecify.annotations.NullMarked;
