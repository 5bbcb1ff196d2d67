package io.rdma4j.tools.perftest;

import java.io.IOException;

/** The measuring, from where both sides are connected to where they part. It can be done several times. */
@FunctionalInterface
interface TestFlow {
    /** Measures all sizes. */
    void measure(Session session) throws IOException;

    /** Ends it, once the peer has come to its end, too. */
    default void part(Session session) throws IOException {
        session.part();
    }

    /** {@return the course of a plan} */
    static TestFlow of(Plan plan) {
        return switch (plan.verb()) {
            case SEND -> plan.isLatency() ? new SendLatency() : new SendBandwidth();
            case WRITE -> plan.isLatency() ? new WriteLatency() : new Bandwidth();
            case READ, ATOMIC -> plan.isLatency() ? new RequestLatency() : new Bandwidth();
        };
    }
}
