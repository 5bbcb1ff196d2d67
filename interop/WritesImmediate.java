// SPDX-License-Identifier: Apache-2.0
import io.rdma4j.cm.CmEvent;
import io.rdma4j.cm.CmEventType;
import io.rdma4j.cm.CmId;
import io.rdma4j.cm.CmEventChannel;
import io.rdma4j.connection.ConnectionParameters;
import io.rdma4j.connection.PortSpace;
import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.QueuePairCapabilities;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.ReceiveWorkRequest;
import io.rdma4j.verbs.SendFlag;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.WorkCompletion;
import java.lang.foreign.Arena;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;

/**
 * A WRITE with immediate of each size from 256 to 4096 that can be a path MTU, each one packet with the largest header.
 *
 * <p>Run by {@code interop/hosts} as {@code java WritesImmediate.java PORT} on one host and
 * {@code java WritesImmediate.java PORT ADDRESS} on another. It ends with status 1 and one line if a message does not arrive.
 */
final class WritesImmediate {
    private static final int LARGEST = 4096;
    private static final int SMALLEST = 256;
    private static final int MESSAGES = 5;
    private static final Duration PATIENCE = Duration.ofSeconds(10);

    private WritesImmediate() {}

    public static void main(String[] arguments) throws RdmaException {
        try {
            int port = Integer.parseInt(arguments[0]);
            if (arguments.length == 1) {
                serve(port);
            } else {
                write(new InetSocketAddress(arguments[1], port));
            }
        } catch (RdmaException | IllegalStateException failure) {
            System.err.println("WritesImmediate: " + failure.getMessage());
            System.exit(1);
        }
    }

    private static void serve(int port) throws RdmaException {
        try (CmEventChannel events = CmEventChannel.create();
                CmId listener = CmId.create(events, PortSpace.TCP);
                Arena arena = Arena.ofShared()) {
            listener.bindAddress(new InetSocketAddress(port));
            listener.listen(1);
            CmId id;
            try (CmEvent request = events.awaitEvent()) {
                id = request.id();
            }
            try (id;
                    ProtectionDomain domain = id.context().allocateProtectionDomain();
                    CompletionQueue completions = id.context().createCompletionQueue(MESSAGES);
                    MemoryRegion region = domain.register(arena.allocate(LARGEST), AccessFlag.LOCAL_WRITE,
                            AccessFlag.REMOTE_WRITE);
                    QueuePair queuePair = id.createQueuePair(domain, attributes(completions))) {
                for (int message = 0; message < MESSAGES; message++) {
                    queuePair.postReceive(new ReceiveWorkRequest());
                }
                byte[] memory = ByteBuffer.allocate(Long.BYTES + Integer.BYTES).putLong(region.address())
                        .putInt(region.rkey()).array();
                id.accept(new ConnectionParameters().privateData(memory));
                expect(events, CmEventType.ESTABLISHED);
                for (int size = SMALLEST; size <= LARGEST; size *= 2) {
                    complete(completions, "the WRITE of " + size + " bytes");
                }
                expect(events, CmEventType.DISCONNECTED);
            }
        }
    }

    private static void write(InetSocketAddress server) throws RdmaException {
        try (CmEventChannel events = CmEventChannel.create();
                CmId id = CmId.create(events, PortSpace.TCP);
                Arena arena = Arena.ofShared()) {
            id.resolveAddress(server, PATIENCE);
            expect(events, CmEventType.ADDR_RESOLVED);
            id.resolveRoute(PATIENCE);
            expect(events, CmEventType.ROUTE_RESOLVED);
            try (ProtectionDomain domain = id.context().allocateProtectionDomain();
                    CompletionQueue completions = id.context().createCompletionQueue(MESSAGES);
                    MemoryRegion region = domain.register(arena.allocate(LARGEST), AccessFlag.LOCAL_WRITE);
                    QueuePair queuePair = id.createQueuePair(domain, attributes(completions))) {
                id.connect(new ConnectionParameters());
                ByteBuffer memory;
                try (CmEvent event = events.awaitEvent()) {
                    if (event.type() != CmEventType.ESTABLISHED) {
                        throw event.failure("connect");
                    }
                    memory = ByteBuffer.wrap(event.privateData());
                }
                long address = memory.getLong();
                int rkey = memory.getInt();
                for (int size = SMALLEST; size <= LARGEST; size *= 2) {
                    queuePair.postSend(new SendWorkRequest().writeWithImmediate(address, rkey, size)
                            .add(region, 0, size).set(SendFlag.SIGNALED));
                    complete(completions, "the WRITE of " + size + " bytes");
                }
                id.disconnect();
            }
        }
        System.out.println("written");
    }

    private static QueuePairInitAttributes attributes(CompletionQueue completions) {
        return new QueuePairInitAttributes().completionQueue(completions)
                .capabilities(QueuePairCapabilities.ofDepth(MESSAGES, MESSAGES));
    }

    private static void complete(CompletionQueue completions, String what) throws RdmaException {
        WorkCompletion completion = new WorkCompletion();
        long end = System.nanoTime() + PATIENCE.toNanos();
        while (!completions.poll(completion)) {
            if (System.nanoTime() > end) {
                throw new IllegalStateException(what + " did not complete");
            }
            Thread.yield();
        }
        if (!completion.isSuccess()) {
            throw new IllegalStateException(what + ": " + completion.status());
        }
    }

    private static void expect(CmEventChannel events, CmEventType wanted) throws RdmaException {
        try (CmEvent event = events.awaitEvent()) {
            if (event.type() != wanted) {
                throw event.failure("connect");
            }
        }
    }
}
