/**
 * The counters of other processes: {@code rdma4j stat}.
 *
 * <p>{@link io.rdma4j.tools.stat.Stat} is the place to start. Processes are found by the attach interface and
 * read by JMX, by names alone: nothing here knows the software NIC.
 */
@NullMarked
package io.rdma4j.tools.stat;

import org.jspecify.annotations.NullMarked;
