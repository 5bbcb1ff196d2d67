/**
 * What Java Flight Recorder hears of a device that sees each packet.
 *
 * <p>{@link io.rdma4j.softnic.observe.jfr.PacketEvents} is the place to start. What devices of every kind tell is in
 * {@code io.rdma4j.observe.jfr}. Knows the values of the API, no engine, no queue pair.
 */
@NullMarked
package io.rdma4j.softnic.observe.jfr;

import org.jspecify.annotations.NullMarked;
