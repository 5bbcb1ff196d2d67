// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.benchmarks.streams;

import io.rdma4j.benchmarks.calls.CallCosts;
import io.rdma4j.benchmarks.calls.CallCosts.Column;
import io.rdma4j.benchmarks.calls.CallCosts.Line;

import java.io.IOException;
import java.util.List;

/**
 * The program behind {@code benchmarks/streams}: nanoseconds of the calls of a TCP connection, by the JDK's channels and by Linux's
 * own functions.
 *
 * <p>One thread has both ends, so what is measured is calls and no waiting: on loopback what was written can be read at once.
 */
public final class StreamCost {
    /** Calls of a burst. */
    private static final int BURST = 64;

    private StreamCost() {}

    private static Line<StreamPair> messages(String name, int length) {
        return new Line<>(name, BURST, pair -> {
            long startNs = System.nanoTime();
            for (int i = 0; i < BURST; i++) {
                int written = pair.write(length);
                int got = 0;
                while (got < written) {
                    got += pair.read(length - got);
                }
                if (written != length) {
                    throw new IOException("the system took " + written + " bytes of " + length);
                }
            }
            return System.nanoTime() - startNs;
        });
    }

    private static List<Line<StreamPair>> lines() {
        return List.of(new Line<>("read, nothing there", BURST, pair -> {
            long startNs = System.nanoTime();
            for (int i = 0; i < BURST; i++) {
                if (pair.read(StreamPair.MOST) != 0) {
                    throw new IOException("something was there to read");
                }
            }
            return System.nanoTime() - startNs;
        }), new Line<>("look which can be read, none", BURST, pair -> {
            long startNs = System.nanoTime();
            for (int i = 0; i < BURST; i++) {
                if (pair.look() != 0) {
                    throw new IOException("something was there to read");
                }
            }
            return System.nanoTime() - startNs;
        }), messages("write and read 64 bytes", 64), messages("write and read 4 KiB", 4 << 10),
                messages("write and read 64 KiB", 64 << 10));
    }

    /**
     * Runs it.
     *
     * @param arguments how many rounds count
     */
    public static void main(String[] arguments) throws IOException {
        try (StreamPair channels = new ChannelPair(); StreamPair system = new SystemPair()) {
            List<Column<StreamPair>> columns = List.of(new Column<>("channels", channels),
                    new Column<>("Linux's functions", system));
            System.out.print(
                    new CallCosts<>(lines(), columns, Integer.parseInt(arguments[0])).table());
        }
    }
}
