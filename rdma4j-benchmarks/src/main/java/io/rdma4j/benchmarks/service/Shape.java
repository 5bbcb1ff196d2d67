// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.benchmarks.service;

/** How a server uses threads. */
public enum Shape {
    /** One thread waits for all: a wait set, a shared receive queue for each device; a selector over TCP. */
    ONE_THREAD,
    /** One thread accepts, three others serve, each with a wait set or a selector of its own. */
    THREE_WORKERS,
    /** A virtual thread serves a connection. */
    VIRTUAL_THREADS,
    /** One thread waits in a selector for the wait set's channel and for TCP sockets. */
    SELECTOR
}
