// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.perftest;

/** Whether messages of a round were lost, where that is no failure. */
final class Losses {
    private boolean isAny;

    /** Nothing has come for a while. */
    void note() {
        isAny = true;
    }

    boolean isAny() {
        return isAny;
    }
}
