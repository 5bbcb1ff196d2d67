// SPDX-License-Identifier: Apache-2.0
/**
 * Events for Java Flight Recorder, with the same names for devices of every kind.
 *
 * <p>This is not part of the interface for programs; the names of the events and their fields are. Start reading at {@link io.rdma4j.observe.jfr.FlightEvents}: devices and their connection managers report to it what
 * happened. While nothing is recorded, a report only reads a flag. Knows the values of the API and no device, and works
 * without the module {@code jdk.jfr}.
 */
@NullMarked
package io.rdma4j.observe.jfr;

import org.jspecify.annotations.NullMarked;
