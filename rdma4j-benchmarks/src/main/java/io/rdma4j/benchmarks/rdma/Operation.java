// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.benchmarks.rdma;

/** What is posted. */
public enum Operation {
    /** RDMA WRITE. */
    WRITE,
    /** RDMA READ. */
    READ,
    /** SEND, into receives of the peer. */
    SEND
}
