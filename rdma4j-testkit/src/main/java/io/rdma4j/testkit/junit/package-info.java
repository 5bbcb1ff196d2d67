// SPDX-License-Identifier: Apache-2.0
/**
 * For the tests of programs that use rdma4j: a JUnit extension that gives them a device, connected ids, a lossy network and a
 * recording, and finds what a test leaves open.
 *
 * <p>Start reading at {@link io.rdma4j.testkit.junit.RdmaTest}. Knows the interface for programs and JUnit, no device and nothing of
 * the conformance suite.
 *
 * <p>This package is exported and may change in any version until it is declared stable.
 */
@NullMarked
package io.rdma4j.testkit.junit;

import org.jspecify.annotations.NullMarked;
