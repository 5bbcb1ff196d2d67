/**
 * What can be seen of native devices from outside: the kernel's counters, and JMX.
 *
 * <p>{@link io.rdma4j.ibverbs.observe.OpenDevices} and {@link io.rdma4j.ibverbs.observe.KernelCounters} are the places to
 * start. Knows no object of the verbs and calls no library: an open device hands in what it shows.
 */
@NullMarked
package io.rdma4j.ibverbs.observe;

import org.jspecify.annotations.NullMarked;
