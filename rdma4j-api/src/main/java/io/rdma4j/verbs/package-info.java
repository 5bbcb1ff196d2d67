// SPDX-License-Identifier: Apache-2.0
/**
 * The verbs: devices, protection domains, memory, completions and queue pairs.
 *
 * <p>They are for a Java program what libibverbs is for a C program. This package has interfaces, which devices
 * implement, and values, but no code of a device; {@link io.rdma4j.verbs.RdmaDevices} finds the devices.
 * Of the other packages it knows only {@code io.rdma4j.event}; it knows no wire format and no socket. Start
 * reading at {@link io.rdma4j.verbs.RdmaDevices}, then {@link io.rdma4j.verbs.DeviceContext} and
 * {@link io.rdma4j.verbs.QueuePair}.
 *
 * <p>Each method that declares {@link io.rdma4j.verbs.RdmaException} throws a
 * {@link io.rdma4j.verbs.RdmaClosedException} (EBADF) once its object is closed, whichever thread closes it, also at this
 * moment. Methods that do not declare it go on answering, but for {@link io.rdma4j.verbs.QueuePair#state}.
 */
@NullMarked
package io.rdma4j.verbs;

import org.jspecify.annotations.NullMarked;
