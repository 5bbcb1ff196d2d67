/**
 * The conformance suite: what every RDMA device must do, as tests that any device runs.
 *
 * <p>One class a file of rdma-core's own test-suite, one test a case of it, under its name; beside them
 * {@link io.rdma4j.testkit.FaultConformance}, what a reliable connection does about a wire that fails it.
 * A device runs it by subclassing each class and implementing {@link io.rdma4j.testkit.DeviceUnderTest};
 * what it must pass says its {@link io.rdma4j.testkit.ConformanceProfile}.
 * The suite knows {@code io.rdma4j.verbs}, {@code io.rdma4j.connection} and {@code io.rdma4j.cm}, and no
 * device. Start reading at {@link io.rdma4j.testkit.Conformance}, then {@code Players}.
 */
@NullMarked
package io.rdma4j.testkit;

import org.jspecify.annotations.NullMarked;
