// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools;

import io.rdma4j.cm.CmId;
import io.rdma4j.connection.ConnectionParameters;
import io.rdma4j.connection.PortSpace;
import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.QueuePairCapabilities;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.SendFlag;
import org.junit.jupiter.api.Test;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetSocketAddress;
import java.nio.ByteOrder;
import java.time.Duration;

import static org.assertj.core.api.Assertions.assertThat;

/** The server of rping with clients that a C program may be, and ours is not. */
class RpingServerTest {
    private static final String ADDRESS = Loopback.OWN;
    private static final int PORT = 17_181;
    private static final Duration TIMEOUT = Duration.ofSeconds(2);

    @Test
    void endsWellWhenItsLastMessageIsNotAcknowledged() throws Exception {
        try (Running server = Command.start("rping -s -v -S 64 -p " + PORT + " -a " + ADDRESS)) {
            server.lineWith("listening");
            pingOnceAndLeave();
            assertThat(server.awaitEnd()).as(server.text()).isZero();
        }
    }

    /** The client has no receive for the last message, so it leaves while the server waits for it. */
    private static void pingOnceAndLeave() throws RdmaException {
        try (CmId id = CmId.create(PortSpace.TCP); Arena arena = Arena.ofShared()) {
            id.resolveAddress(new InetSocketAddress(ADDRESS, PORT), TIMEOUT);
            id.resolveRoute(TIMEOUT);
            id.createQueuePair(new QueuePairInitAttributes()
                    .capabilities(QueuePairCapabilities.ofDepth(2, 2).withInlineData(16)));
            MemorySegment ping = arena.allocate(64).fill((byte) 'a');
            try (MemoryRegion data = id.protectionDomain().register(ping, AccessFlag.LOCAL_WRITE,
                    AccessFlag.REMOTE_READ, AccessFlag.REMOTE_WRITE);
                    MemoryRegion answer = id.registerMessages(arena.allocate(16))) {
                id.postReceive(0, answer, 0, 16);
                id.connect(new ConnectionParameters().responderResources(1).initiatorDepth(1));
                MemorySegment advertisement = MemorySegment.ofArray(new byte[16]);
                advertisement.asByteBuffer().order(ByteOrder.BIG_ENDIAN).putLong(data.address())
                        .putInt(data.rkey()).putInt(64);
                id.postSend(1, advertisement, SendFlag.SIGNALED);
                assertThat(id.awaitReceiveCompletion().isSuccess()).isTrue();
                ping.fill((byte) 0);
                id.postSend(2, advertisement, SendFlag.SIGNALED);
                long endNs = System.nanoTime() + TIMEOUT.toNanos();
                while (ping.get(ValueLayout.JAVA_BYTE, 63) == 0 && System.nanoTime() < endNs) {
                    Thread.onSpinWait();
                }
                assertThat(ping.get(ValueLayout.JAVA_BYTE, 63)).isEqualTo((byte) 'a');
                id.disconnect();
            }
        }
    }
}
