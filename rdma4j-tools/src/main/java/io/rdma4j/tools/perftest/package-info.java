/**
 * The tools of perftest under their own names, able to measure against the C programs.
 *
 * <p>Each tool is a small class that names its {@code Verb} and takes the options that fit; they become a {@code Plan}.
 * {@code PerfTest} is a run of any tool: {@code SideChannel} makes the sides known to each other, over TCP or over a
 * connection of the connection manager, {@code TestSide} holds the verbs' objects of one, and a {@code TestFlow} measures:
 * {@code Bandwidth}, {@code SendBandwidth} or one of the latencies. {@code TestReport} prints. Knows the API alone. Start
 * reading at {@code PerfTest}.
 */
@NullMarked
package io.rdma4j.tools.perftest;

import org.jspecify.annotations.NullMarked;
