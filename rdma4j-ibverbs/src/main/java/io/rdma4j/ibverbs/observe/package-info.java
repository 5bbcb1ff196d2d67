/**
 * What can be seen of native devices from outside: the kernel's counters.
 *
 * <p>{@link io.rdma4j.ibverbs.observe.KernelCounters} is the place to start. Knows no object of the verbs and calls no
 * library.
 */
@NullMarked
package io.rdma4j.ibverbs.observe;

import org.jspecify.annotations.NullMarked;
