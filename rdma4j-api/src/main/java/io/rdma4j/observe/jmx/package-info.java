/**
 * What JMX shows of an open device, of whatever kind.
 *
 * <p>{@link io.rdma4j.observe.jmx.DeviceMXBean} is the place to start; a device hands itself to a
 * {@link io.rdma4j.observe.jmx.ShownDevice}. Knows the JDK alone, and does without {@code java.management} where that is not
 * there. Names begin with {@code get} because JMX finds attributes by it.
 */
@NullMarked
package io.rdma4j.observe.jmx;

import org.jspecify.annotations.NullMarked;
