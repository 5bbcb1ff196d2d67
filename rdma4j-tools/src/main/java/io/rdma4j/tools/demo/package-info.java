// SPDX-License-Identifier: Apache-2.0
/**
 * The demo: a server and a client process go through the usual steps, which are shown as one timeline.
 *
 * <p>{@link io.rdma4j.tools.demo.Demo} starts both processes and prints what they report.
 * {@code DemoServer} and {@code DemoClient} run in them and use only the API. Start reading at
 * {@code DemoClient}.
 */
@NullMarked
package io.rdma4j.tools.demo;

import org.jspecify.annotations.NullMarked;
