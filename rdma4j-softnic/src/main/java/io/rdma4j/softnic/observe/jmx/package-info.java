/**
 * What JMX shows of an open device.
 *
 * <p>{@link io.rdma4j.softnic.observe.jmx.DeviceMXBean} is the place to start. Only data here: the bean itself
 * belongs to the device. Names begin with {@code get} because JMX finds attributes by it.
 */
@NullMarked
package io.rdma4j.softnic.observe.jmx;

import org.jspecify.annotations.NullMarked;
