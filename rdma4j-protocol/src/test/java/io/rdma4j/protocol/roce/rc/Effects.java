// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.protocol.roce.rc;

import io.rdma4j.protocol.count.Counter;
import io.rdma4j.protocol.roce.wire.PacketView;
import io.rdma4j.verbs.AsyncEventType;
import io.rdma4j.verbs.QueuePairState;
import io.rdma4j.verbs.WorkCompletionStatus;
import org.jspecify.annotations.Nullable;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * What an end does about one event, in words: {@code NAME n} is a packet it sends with the n-th PSN, {@code first to last}
 * are several requests, {@code n status} is the completion of request n, {@code !} comes before an asynchronous event and
 * {@code >} before the state it goes to. {@code writes} says that its memory was changed, to what was expected if the test
 * has said that, {@code dropped} and {@code ghost} that the packet was counted as such, {@code -} that nothing happens.
 */
final class Effects {
    private Effects() {}

    /** Bytes that are to come to a place in the memory. */
    record Written(int offset, byte[] bytes) {
        static final Written NOTHING = new Written(0, new byte[0]);

        static Written word(int offset, long value) {
            return new Written(offset, ByteBuffer.allocate(Long.BYTES)
                    .order(ByteOrder.nativeOrder()).putLong(value).array());
        }

        private byte[] over(byte[] memory) {
            byte[] after = memory.clone();
            System.arraycopy(bytes, 0, after, offset, bytes.length);
            return after;
        }
    }

    static String of(RcEnd end, Runnable event) {
        return of(end, null, event);
    }

    /** @param expected what the memory is to be changed to, if it is changed; null if anything will do */
    static String of(RcEnd end, @Nullable Written expected, Runnable event) {
        List<String> sent = new ArrayList<>();
        end.wire.watch(new Wire.Watcher() {
            @Override
            public void onSent(RcEnd from, PacketView packet) {
                if (from == end) {
                    sent.add(PacketText.name(packet) + " " + end.index(packet));
                }
            }
        });
        end.completions.clear();
        end.events.clear();
        byte[] before = end.bytes();
        QueuePairState stateBefore = end.queuePair.state();
        long dropped = end.counted(Counter.DROPPED_NOT_READY);
        long ghosts = end.counted(Counter.DROPPED_GHOST_ACK);

        event.run();
        end.work();

        List<String> effects = new ArrayList<>();
        if (end.counted(Counter.DROPPED_NOT_READY) > dropped) {
            effects.add("dropped");
        }
        if (end.counted(Counter.DROPPED_GHOST_ACK) > ghosts) {
            effects.add("ghost");
        }
        byte[] after = end.bytes();
        if (!Arrays.equals(before, after)) {
            boolean isRight = expected == null || Arrays.equals(expected.over(before), after);
            effects.add(isRight ? "writes" : "writes something else");
        }
        if (sent.size() > 2) {
            effects.add(sent.getFirst() + " to " + sent.getLast());
        } else {
            effects.addAll(sent);
        }
        end.completions.forEach(c -> effects.add(c.id() + " " + status(c.status())));
        end.events.forEach(e -> effects.add("!" + name(e)));
        if (end.queuePair.state() != stateBefore) {
            effects.add(">" + end.queuePair.state());
        }
        return effects.isEmpty() ? "-" : String.join(", ", effects);
    }

    private static String status(WorkCompletionStatus status) {
        return switch (status) {
            case SUCCESS -> "success";
            case WORK_REQUEST_FLUSHED -> "flushed";
            default -> status.name();
        };
    }

    private static String name(AsyncEventType event) {
        return event.name().startsWith("QP_") ? event.name().substring(3) : event.name();
    }
}
