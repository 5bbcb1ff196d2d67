// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.perftest;

/** Which measurement a plan wants. */
final class FlowChoice {
    private FlowChoice() {}

    /** {@return the course of a plan} */
    static TestFlow of(Plan plan) {
        return switch (plan.verb()) {
            case SEND -> plan.isLatency() ? new SendLatency() : new SendBandwidth();
            case WRITE -> plan.isLatency() ? new WriteLatency() : new Bandwidth();
            case READ, ATOMIC -> plan.isLatency() ? new RequestLatency() : new Bandwidth();
        };
    }
}
