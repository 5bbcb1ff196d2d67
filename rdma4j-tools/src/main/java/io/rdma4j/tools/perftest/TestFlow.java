package io.rdma4j.tools.perftest;

import java.io.IOException;

/** The measuring, from where both sides are connected to where they part. */
@FunctionalInterface
interface TestFlow {
    void run(Session session) throws IOException;

    /** {@return the course of a plan} */
    static TestFlow of(Plan plan) {
        return switch (plan.verb()) {
            case SEND -> plan.isLatency() ? new SendLatency() : new SendBandwidth();
            case WRITE -> plan.isLatency() ? new WriteLatency() : new Bandwidth();
            case READ, ATOMIC -> plan.isLatency() ? new RequestLatency() : new Bandwidth();
        };
    }
}
