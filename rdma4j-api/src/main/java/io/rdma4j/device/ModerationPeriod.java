// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.device;

import java.time.Duration;

/** The period of {@link io.rdma4j.verbs.CompletionQueue#moderate} in the unit of devices. */
public final class ModerationPeriod {
    private ModerationPeriod() {}

    /** {@return microseconds, rounded up; {@link Long#MAX_VALUE} for more than there are, -1 for less than none} */
    public static long us(Duration period) {
        if (period.isNegative()) {
            return -1;
        }
        try {
            return Math.ceilDiv(period.toNanos(), 1_000);
        } catch (ArithmeticException tooLong) {
            return Long.MAX_VALUE;
        }
    }
}
