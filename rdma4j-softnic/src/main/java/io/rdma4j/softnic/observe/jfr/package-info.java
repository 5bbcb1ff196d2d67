// SPDX-License-Identifier: Apache-2.0
/**
 * Events of single packets for Java Flight Recorder, which only software devices can report.
 *
 * <p>Start reading at {@link io.rdma4j.softnic.observe.jfr.PacketEvents}. Events of devices of every kind are in
 * {@code io.rdma4j.observe.jfr}. Knows values of the API and of the protocol, no engine and no queue pair.
 */
@NullMarked
package io.rdma4j.softnic.observe.jfr;

import org.jspecify.annotations.NullMarked;
