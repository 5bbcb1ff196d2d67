// SPDX-License-Identifier: Apache-2.0
/**
 * Puts the open devices of this process, and what else it shows, into JMX, and into the system properties by which other processes
 * find them.
 *
 * <p>This is not part of the interface for programs, and changes with the providers. Start reading at
 * {@link io.rdma4j.observe.registry.ShownDevice}, of which each open device has one. Knows the beans of
 * {@code io.rdma4j.observe.jmx} and the JDK, and works without the module {@code java.management}.
 */
@NullMarked
package io.rdma4j.observe.registry;

import org.jspecify.annotations.NullMarked;
