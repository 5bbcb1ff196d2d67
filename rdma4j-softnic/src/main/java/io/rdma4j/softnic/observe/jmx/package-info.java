/**
 * What JMX shows of an open software device beside what it shows of any.
 *
 * <p>{@link io.rdma4j.softnic.observe.jmx.SoftDeviceMXBean} is the place to start. Only data here: the bean itself
 * belongs to the device. Names begin with {@code get} because JMX finds attributes by it.
 */
@NullMarked
package io.rdma4j.softnic.observe.jmx;

import org.jspecify.annotations.NullMarked;
