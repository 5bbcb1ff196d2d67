// SPDX-License-Identifier: Apache-2.0
/**
 * What a device implements for the connection manager, and values of every device.
 *
 * <p>This is not part of the interface for programs, and changes with the providers. {@link java.util.ServiceLoader} finds a provider as a
 * {@link io.rdma4j.verbs.RdmaProvider}. A device that supports the connection manager implements
 * {@link io.rdma4j.spi.CmDevice} and {@link io.rdma4j.spi.CmContext}; there it decides everything that depends on its
 * transport. Knows the verbs, the values of {@code io.rdma4j.connection} and the queues of {@code io.rdma4j.event}; no
 * wire format, and nothing of {@code io.rdma4j.cm}.
 */
@NullMarked
package io.rdma4j.spi;

import org.jspecify.annotations.NullMarked;
