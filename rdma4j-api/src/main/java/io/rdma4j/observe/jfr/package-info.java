/**
 * What Java Flight Recorder hears of devices of every kind, under the same names.
 *
 * <p>{@link io.rdma4j.observe.jfr.FlightEvents} is the place to start: devices and their connection managers tell it what
 * happened, and it costs them a look at a flag while nothing is recorded. Knows the values of the API and no device, and does
 * without {@code jdk.jfr} where that is not there.
 */
@NullMarked
package io.rdma4j.observe.jfr;

import org.jspecify.annotations.NullMarked;
