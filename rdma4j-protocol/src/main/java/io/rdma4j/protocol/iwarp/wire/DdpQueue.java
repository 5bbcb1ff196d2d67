// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.protocol.iwarp.wire;

/** The queues of a receiver that untagged messages go to. Source: RFC 5040 4.5. */
public enum DdpQueue {
    /** SENDs of every kind. */
    SENDS(0),
    /** READ requests. */
    READ_REQUESTS(1),
    /** Terminate messages. */
    TERMINATES(2),
    /** None: tagged messages go to memory. */
    NONE(-1);

    private final int number;

    DdpQueue(int number) {
        this.number = number;
    }

    /** {@return the number on the wire} */
    public int number() {
        return number;
    }
}
