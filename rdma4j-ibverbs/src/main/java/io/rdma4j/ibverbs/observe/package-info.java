// SPDX-License-Identifier: Apache-2.0
/**
 * Shows native devices from outside: the kernel's counters, and JMX.
 *
 * <p>Start reading at {@link io.rdma4j.ibverbs.observe.ObservedDevices} and {@link io.rdma4j.ibverbs.observe.KernelCounters}.
 * Knows no object of the verbs and calls no library: an open device passes in what is to be shown.
 */
@NullMarked
package io.rdma4j.ibverbs.observe;

import org.jspecify.annotations.NullMarked;
