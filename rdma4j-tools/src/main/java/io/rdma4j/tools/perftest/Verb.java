// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.perftest;

import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.QueuePairType;

import java.util.EnumSet;
import java.util.Set;

/** What a tool measures. */
enum Verb {
    /** Messages that consume a receive. */
    SEND("Send"),
    /** Writes into the peer's memory. */
    WRITE("RDMA_Write"),
    /** Reads of the peer's memory. */
    READ("RDMA_Read"),
    /** Atomic operations on the peer's memory. */
    ATOMIC("Atomic");

    private final String title;

    Verb(String title) {
        this.title = title;
    }

    String title() {
        return title;
    }

    boolean isPossibleOver(QueuePairType type) {
        return switch (this) {
            case SEND -> true;
            case WRITE -> type != QueuePairType.UD;
            case READ, ATOMIC -> type == QueuePairType.RC;
        };
    }

    /** {@return whether the peer returns data} A message is then a whole round trip. */
    boolean isAnswered() {
        return this == READ || this == ATOMIC;
    }

    boolean isSend() {
        return this == SEND;
    }

    /** {@return the peer's accesses to this side's memory} */
    Set<AccessFlag> peerAccess() {
        return switch (this) {
            case SEND -> EnumSet.noneOf(AccessFlag.class);
            case WRITE -> EnumSet.of(AccessFlag.REMOTE_WRITE);
            case READ -> EnumSet.of(AccessFlag.REMOTE_READ);
            case ATOMIC -> EnumSet.of(AccessFlag.REMOTE_ATOMIC);
        };
    }
}
