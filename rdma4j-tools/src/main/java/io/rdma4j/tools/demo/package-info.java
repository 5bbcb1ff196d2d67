/**
 * The demo: a server and a client process that go through the classic steps, shown as one timeline.
 *
 * <p>{@link io.rdma4j.tools.demo.Demo} starts both processes and prints what they report;
 * {@code DemoServer} and {@code DemoClient} run in them and use nothing but the API. Start reading at
 * {@code DemoClient}.
 */
@NullMarked
package io.rdma4j.tools.demo;

import org.jspecify.annotations.NullMarked;
