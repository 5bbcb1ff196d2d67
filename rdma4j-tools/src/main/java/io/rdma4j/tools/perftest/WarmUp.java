// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.perftest;

import io.rdma4j.verbs.QueuePairType;

/**
 * The phase before the measurement: rounds of the same messages until the JVM has compiled their code. As the C
 * programs do with {@code --perform_warm_up}, but by default, and for all tests.
 */
enum WarmUp {
    /** No warm-up. */
    OFF("OFF"),
    /** Both sides have agreed to it. */
    TOGETHER("ON"),
    /** The peer takes no part in this test's messages, and does not know of the warm-up. */
    ALONE("ON, of this side");

    private final String text;

    WarmUp(String text) {
        this.text = text;
    }

    /**
     * {@return the possible warm-up}
     *
     * @param isWanted whether this side wants it
     * @param isPeerReady whether the peer does, and can
     */
    static WarmUp of(Plan plan, boolean isWanted, boolean isPeerReady) {
        boolean isReliable = plan.type() == QueuePairType.RC;
        if (isWanted && isPeerReady) {
            return TOGETHER;
        }
        boolean isOneSided = plan.verb().isAnswered()
                || (plan.verb() == Verb.WRITE && !plan.isLatency());
        return isWanted && isReliable && isOneSided && plan.isClient() && !plan.isBothWays()
                ? ALONE
                : OFF;
    }

    /** {@return in words of the report} */
    String text() {
        return text;
    }
}
