/**
 * The verbs: devices, protection domains, memory, completions and queue pairs.
 *
 * <p>They are for a Java program what libibverbs is for a C program. This package has interfaces, which devices
 * implement, and values, but no code of a device; {@link io.rdma4j.verbs.RdmaDevices} finds the devices.
 * Of the other packages it knows only {@code io.rdma4j.event}; it knows no wire format and no socket. Start
 * reading at {@link io.rdma4j.verbs.RdmaDevices}, then {@link io.rdma4j.verbs.DeviceContext} and
 * {@link io.rdma4j.verbs.QueuePair}.
 */
@NullMarked
package io.rdma4j.verbs;

import org.jspecify.annotations.NullMarked;
