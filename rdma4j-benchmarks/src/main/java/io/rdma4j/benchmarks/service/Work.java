// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.benchmarks.service;

/** What a client asks a server for. */
public enum Work {
    /** In turn: a value of 256 B is stored by a message, and read: by READ, or by another message over TCP. */
    KEY_VALUE(256, 1),
    /** A message of 64 B comes back. */
    ECHO(64, 64);

    private final int requestBytes;
    private final int replyBytes;

    Work(int requestBytes, int replyBytes) {
        this.requestBytes = requestBytes;
        this.replyBytes = replyBytes;
    }

    int requestBytes() {
        return requestBytes;
    }

    /** {@return the bytes of a reply over RDMA} Over TCP it is as long as the request, which stands for a value that is read. */
    int replyBytes() {
        return replyBytes;
    }
}
