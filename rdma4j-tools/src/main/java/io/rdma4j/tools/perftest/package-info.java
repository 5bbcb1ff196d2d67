// SPDX-License-Identifier: Apache-2.0
/**
 * The tools of perftest under their own names; they interoperate with the C programs.
 *
 * <p>Each tool is a small class that names its {@code Verb} and its options, which become a {@code Plan}.
 * {@code PerfTest} runs any tool. A {@code SideChannel} exchanges the data that the sides need to connect, over TCP or
 * over a connection of the connection manager. {@code TestSide} has the verbs' objects of one side. {@code FlowChoice} picks
 * the {@code TestFlow} that measures: {@code Bandwidth}, {@code SendBandwidth} or one of the latencies. {@code TestReport} prints
 * the results. Knows only the API and the shared parts of the tools. Start reading at {@code PerfTest}.
 */
@NullMarked
package io.rdma4j.tools.perftest;

import org.jspecify.annotations.NullMarked;
