/**
 * What Java Flight Recorder hears of a device.
 *
 * <p>{@link io.rdma4j.softnic.observe.jfr.FlightEvents} is the place to start: the engine and the connection manager
 * tell it what happened, and it costs them a look at a flag while nothing is recorded. Knows the values
 * of the API, no engine, no queue pair.
 */
@NullMarked
package io.rdma4j.softnic.observe.jfr;

import org.jspecify.annotations.NullMarked;
