// SPDX-License-Identifier: Apache-2.0
/**
 * The counters and sockets of other processes: {@code rdma4j stat}.
 *
 * <p>Start reading at {@link io.rdma4j.tools.stat.Stat}. It finds processes by the attach interface and
 * reads their beans by JMX, only by name: nothing here knows the software NIC.
 */
@NullMarked
package io.rdma4j.tools.stat;

import org.jspecify.annotations.NullMarked;
