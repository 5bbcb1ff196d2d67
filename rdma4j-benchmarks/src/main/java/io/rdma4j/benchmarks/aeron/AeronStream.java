// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.benchmarks.aeron;

import io.aeron.Publication;
import io.aeron.logbuffer.FragmentHandler;
import io.rdma4j.benchmarks.workload.Control;
import io.rdma4j.benchmarks.workload.Figures;
import io.rdma4j.benchmarks.workload.PairedWorkload;
import io.rdma4j.benchmarks.workload.Quantity;
import io.rdma4j.benchmarks.workload.Settings;
import io.rdma4j.benchmarks.workload.Stretch;
import org.agrona.concurrent.UnsafeBuffer;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.function.IntConsumer;

/** As much as goes through; a message larger than a datagram is sent as pieces of a datagram each. */
public final class AeronStream implements PairedWorkload {
    private static final int FRAGMENTS = 64;
    /** How many messages or polls there are to one turn of the driver. */
    private static final int BATCH = 32;

    private static final int LARGEST_MESSAGE = 1 << 20;

    private final AeronSide.Way way;

    private AeronStream(AeronSide.Way way) {
        this.way = way;
    }

    /** {@return the workload over UDP with Aeron's default MTU} */
    public static AeronStream overUdp() {
        return new AeronStream(AeronSide::overUdp);
    }

    /** {@return the workload over UDP with the largest datagrams} */
    public static AeronStream overUdpOfLargestMtu() {
        return new AeronStream(AeronSide::overUdpOfLargestMtu);
    }

    /** {@return the workload through memory} */
    public static AeronStream inMemory() {
        return new AeronStream(AeronSide::inMemory);
    }

    @Override
    public void serve(Settings settings, IntConsumer ready) throws IOException {
        try (Control control = Control.accept(ready);
                AeronSide side = way.open(control, true)) {
            UnsafeBuffer target = new UnsafeBuffer(
                    ByteBuffer.allocateDirect(LARGEST_MESSAGE));
            FragmentHandler handler = (buffer, offset, length, header) -> target.putBytes(0, buffer,
                    offset, length);
            int turns = 0;
            while (side.subscription().isConnected()) {
                side.workFast();
                side.subscription().poll(handler, FRAGMENTS);
                if (++turns % FRAGMENTS == 0) {
                    side.work();
                }
            }
        }
    }

    @Override
    public Figures drive(Settings settings, int port) throws IOException {
        try (Control control = Control.connect(port);
                AeronSide side = way.open(control, false)) {
            Publication publication = side.publication();
            int length = Math.min(settings.sizeBytes(), publication.maxPayloadLength());
            UnsafeBuffer message = new UnsafeBuffer(ByteBuffer.allocateDirect(length));
            Stretch stretch = new Stretch(settings);
            long start = publication.position();
            long sent = 0;
            int turns = 0;
            while (stretch.goesOn(sent)) {
                for (int i = 0; i < BATCH && publication.offer(message, 0, length) > 0; i++) {
                    sent++;
                }
                side.workFast();
                if (++turns % FRAGMENTS == 0) {
                    side.work();
                }
            }
            if (publication.position() == start) {
                throw new IOException("nothing was sent");
            }
            return new Figures().with(Quantity.BYTES_PER_SECOND, stretch.perSecond() * length)
                    .with(Quantity.MESSAGES_PER_SECOND, stretch.perSecond());
        }
    }
}
