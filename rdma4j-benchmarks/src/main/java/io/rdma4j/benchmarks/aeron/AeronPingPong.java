// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.benchmarks.aeron;

import io.aeron.logbuffer.FragmentHandler;
import io.rdma4j.benchmarks.workload.Control;
import io.rdma4j.benchmarks.workload.Figures;
import io.rdma4j.benchmarks.workload.Latencies;
import io.rdma4j.benchmarks.workload.PairedWorkload;
import io.rdma4j.benchmarks.workload.Settings;
import io.rdma4j.benchmarks.workload.Stretch;
import org.agrona.concurrent.UnsafeBuffer;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.function.IntConsumer;

/** Messages to and fro, both sides polling. */
public final class AeronPingPong implements PairedWorkload {
    /** How many looks for a message there are to one for what the client has to do. */
    private static final int LOOKS = 1024;

    private final AeronSide.Way way;

    /** @param way how the sides reach each other */
    AeronPingPong(AeronSide.Way way) {
        this.way = way;
    }

    /** {@return the workload over UDP} */
    public static AeronPingPong overUdp() {
        return new AeronPingPong(AeronSide::overUdp);
    }

    /** {@return the workload through memory} */
    public static AeronPingPong inMemory() {
        return new AeronPingPong(AeronSide::inMemory);
    }

    @Override
    public void serve(Settings settings, IntConsumer ready) throws IOException {
        try (Control control = Control.accept(ready); AeronSide side = way.open(control, true)) {
            Player player = new Player(side, settings.sizeBytes());
            // A message of one byte ends it.
            while (player.await() > 1) {
                player.send(settings.sizeBytes());
            }
        }
    }

    @Override
    public Figures drive(Settings settings, int port) throws IOException {
        try (Control control = Control.connect(port);
                AeronSide side = way.open(control, false)) {
            Player player = new Player(side, settings.sizeBytes());
            Latencies latencies = new Latencies();
            Stretch stretch = new Stretch(settings);
            long rounds = 0;
            long beforeNs = System.nanoTime();
            while (stretch.goesOn(rounds, beforeNs)) {
                player.send(settings.sizeBytes());
                player.await();
                long nowNs = System.nanoTime();
                if (stretch.isCounting()) {
                    latencies.add(nowNs - beforeNs);
                }
                beforeNs = nowNs;
                rounds++;
            }
            player.send(1);
            // It has left when the driver has run; what is lost is sent again while the other side waits.
            while (!control.hasEnded()) {
                side.work();
            }
            return latencies.figures(0.5);
        }
    }

    private static final class Player {
        private final AeronSide side;
        private final UnsafeBuffer message;
        private final FragmentHandler handler;
        private int received;

        Player(AeronSide side, int size) {
            this.side = side;
            message = new UnsafeBuffer(ByteBuffer.allocateDirect(size));
            handler = (buffer, offset, length, header) -> {
                message.putBytes(0, buffer, offset, length);
                received = length;
            };
        }

        void send(int length) {
            while (side.publication().offer(message, 0, length) < 0) {
                side.work();
            }
            side.workFast();
        }

        int await() {
            received = 0;
            for (int looks = 1;; looks++) {
                side.workFast();
                side.subscription().poll(handler, 1);
                if (received > 0) {
                    return received;
                }
                if (looks % LOOKS == 0) {
                    side.work();
                }
            }
        }
    }
}
