// SPDX-License-Identifier: Apache-2.0
/**
 * The conformance suite: what every RDMA device must do, as tests that any device runs.
 *
 * <p>It has one class for each file of rdma-core's own test-suite, and one test for each case, under its name. In
 * addition {@link io.rdma4j.testkit.FaultConformance} tests how a reliable connection copes with a faulty
 * network. A device runs the suite by subclassing each class and implementing
 * {@link io.rdma4j.testkit.DeviceUnderTest}; its {@link io.rdma4j.testkit.ConformanceProfile} says what it must pass.
 * The suite knows {@code io.rdma4j.verbs}, {@code io.rdma4j.connection} and {@code io.rdma4j.cm}, and no
 * device. Tests of devices find {@link io.rdma4j.testkit.Wait}, {@link io.rdma4j.testkit.FlightRecording},
 * {@link io.rdma4j.testkit.LogLines}, {@link io.rdma4j.testkit.ListedDevice}, {@link io.rdma4j.testkit.RefusingContext} and
 * {@link io.rdma4j.testkit.ClosingRace} here, too.
 * Start reading at {@link io.rdma4j.testkit.Conformance}, then {@code Players}.
 *
 * <p>This package is exported and may change in any version until it is declared stable.
 */
@NullMarked
package io.rdma4j.testkit;

import org.jspecify.annotations.NullMarked;
