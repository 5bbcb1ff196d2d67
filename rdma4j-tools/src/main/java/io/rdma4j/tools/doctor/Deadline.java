// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.doctor;

import java.time.Duration;

/** When everything must be over, whatever the peer and the network do. */
final class Deadline {
    private final long endNs;
    private final long halfNs;

    Deadline(Duration time) {
        halfNs = time.toNanos() / 2;
        endNs = System.nanoTime() + time.toNanos();
    }

    /** {@return how long a step may take: no longer than wanted, and no longer than is left; at least a millisecond} */
    Duration atMost(Duration wanted) {
        Duration left = Duration.ofNanos(Math.max(endNs - System.nanoTime(), 1_000_000));
        return left.compareTo(wanted) < 0 ? left : wanted;
    }

    /** {@return whether no more than half of the time is left} */
    boolean isHalfOver() {
        return endNs - System.nanoTime() <= halfNs;
    }
}
