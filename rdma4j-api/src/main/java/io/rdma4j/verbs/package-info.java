/**
 * The verbs: devices, protection domains, memory, completions and queue pairs.
 *
 * <p>What libibverbs is to a C program. Types here say what a device offers and carry no device's
 * code; devices are found by {@link io.rdma4j.verbs.RdmaDevices} and implement the interfaces.
 * Of the other packages they know {@code io.rdma4j.event} alone, and no wire and no socket. Start
 * reading at {@link io.rdma4j.verbs.RdmaDevices}, then {@link io.rdma4j.verbs.DeviceContext} and {@link io.rdma4j.verbs.QueuePair}.
 */
@NullMarked
package io.rdma4j.verbs;

import org.jspecify.annotations.NullMarked;
