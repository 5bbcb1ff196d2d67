/**
 * What JMX shows of any open device.
 *
 * <p>Start reading at {@link io.rdma4j.observe.jmx.DeviceMXBean}; a device registers itself by a
 * {@link io.rdma4j.observe.jmx.ShownDevice}. Knows only the JDK, and works without the module {@code java.management}.
 * Method names begin with {@code get} because JMX recognizes attributes by this prefix.
 */
@NullMarked
package io.rdma4j.observe.jmx;

import org.jspecify.annotations.NullMarked;
