package io.rdma4j.softnic;

import io.rdma4j.cm.CmId;
import io.rdma4j.cm.ConnectionParameters;
import io.rdma4j.cm.PortSpace;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.SendFlag;
import io.rdma4j.verbs.WorkCompletion;
import org.junit.jupiter.api.Test;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;

import static org.assertj.core.api.Assertions.assertThat;

class FirstContactTest {
    private static final Duration TIMEOUT = Duration.ofSeconds(2);

    @Test
    void aMessageTravelsBetweenTwoSynchronousIds() throws Exception {
        try (Arena arena = Arena.ofShared(); CmId listener = CmId.create(PortSpace.TCP)) {
            listener.bindAddress(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
            listener.listen(4);
            InetSocketAddress address = listener.localAddress();
            CompletableFuture<String> server = CompletableFuture.supplyAsync(() -> {
                try (CmId id = listener.awaitRequest()) {
                    id.createQueuePair(null, new QueuePairInitAttributes());
                    MemorySegment memory = arena.allocate(64);
                    MemoryRegion region = id.registerMessages(memory);
                    id.postReceive(1, region, 0, 64);
                    id.accept(new ConnectionParameters());
                    WorkCompletion done = id.awaitReceiveCompletion();
                    id.disconnect();
                    region.close();
                    return done.byteLength() + " " + memory.getString(0);
                } catch (Exception e) {
                    throw new RuntimeException(e);
                }
            });
            try (CmId id = CmId.create(PortSpace.TCP)) {
                id.resolveAddress(address, TIMEOUT);
                id.resolveRoute(TIMEOUT);
                id.createQueuePair(null, new QueuePairInitAttributes());
                MemorySegment memory = arena.allocateFrom("hello RDMA");
                try (MemoryRegion region = id.registerMessages(memory)) {
                    id.connect(new ConnectionParameters());
                    id.postSend(2, region, 0, memory.byteSize(), SendFlag.SIGNALED);
                    assertThat(id.awaitSendCompletion().isSuccess()).isTrue();
                }
                assertThat(server.get()).isEqualTo("11 hello RDMA");
            }
        }
    }
}
