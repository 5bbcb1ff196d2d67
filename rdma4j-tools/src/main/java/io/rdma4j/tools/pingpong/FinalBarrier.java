// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.pingpong;

import io.rdma4j.verbs.AsyncEvent;
import io.rdma4j.verbs.AsyncEventType;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.RdmaException;
import org.jspecify.annotations.Nullable;

import java.time.Duration;

/**
 * The end of a game over a reliable connection.
 *
 * <p>The acknowledgement of the peer's last message may be lost, and cannot be repeated after the queue pair is
 * closed: the peer would fail at the very end. So no side ends before the other has finished. Java programs notify
 * each other over the side channel. C programs do not: for them this side stays as long as they may repeat a
 * message.
 */
final class FinalBarrier {
    /** Their time-out is 14, that is 67 ms, and they repeat 7 times. */
    private static final Duration C_PROGRAMS_REPEAT = Duration.ofNanos(8 * (4_096L << 14));

    private FinalBarrier() {}

    static void await(AddressExchange channel, DeviceContext context) throws RdmaException {
        if (!channel.part()) {
            stay(context);
        }
    }

    /** Waits for the time, or for the queue pair to fail: then there is nothing left to stay for. */
    private static void stay(DeviceContext context) throws RdmaException {
        long endNs = System.nanoTime() + C_PROGRAMS_REPEAT.toNanos();
        for (long leftNs = C_PROGRAMS_REPEAT.toNanos(); leftNs > 0; leftNs = endNs
                - System.nanoTime()) {
            try (AsyncEvent event = context.asyncEventChannel()
                    .pollEvent(Duration.ofNanos(leftNs))) {
                if (isTheEnd(event)) {
                    return;
                }
            }
        }
    }

    private static boolean isTheEnd(@Nullable AsyncEvent event) {
        return event != null && (event.type() == AsyncEventType.QP_FATAL
                || event.type() == AsyncEventType.DEVICE_FATAL);
    }
}
