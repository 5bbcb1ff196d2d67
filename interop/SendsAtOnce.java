// SPDX-License-Identifier: Apache-2.0
import io.rdma4j.cm.CmEvent;
import io.rdma4j.cm.CmEventType;
import io.rdma4j.cm.CmId;
import io.rdma4j.cm.CmEventChannel;
import io.rdma4j.connection.ConnectionParameters;
import io.rdma4j.connection.PortSpace;
import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.CompletionChannel;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairCapabilities;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.ReceiveWorkRequest;
import io.rdma4j.verbs.SendFlag;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.WaitSet;
import io.rdma4j.verbs.WorkCompletion;
import java.lang.foreign.Arena;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;

/**
 * A server that posts a message to each client with the call that follows accept, and does not wait until the connection is
 * established: the device must hold the message back until the client can take it. Each client sends one of the same size,
 * before or after it has received the server's; then the server disconnects.
 *
 * <p>Run by {@code interop/run} as {@code java SendsAtOnce.java PORT CLIENTS BYTES}. The clients are C programs. It ends with
 * status 1 and a line on standard error if one of them got or sent no message.
 */
final class SendsAtOnce {
    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final int MOST_AT_ONCE = 16;
    /** Of one connection: that of the sent message and that of the received one. */
    private static final int COMPLETIONS = 2;

    private final ProtectionDomain domain;
    private final CompletionQueue completions;
    private final MemoryRegion region;
    private final int size;
    private final WorkCompletion completion = new WorkCompletion();
    /** By the number of the queue pair: how much of the exchange is not complete yet. */
    private final Map<Integer, Integer> left = new HashMap<>();
    private final Map<Integer, CmId> ids = new HashMap<>();
    private int ended;

    private SendsAtOnce(ProtectionDomain domain, CompletionQueue completions, MemoryRegion region,
            int size) {
        this.domain = domain;
        this.completions = completions;
        this.region = region;
        this.size = size;
    }

    public static void main(String[] arguments) throws RdmaException {
        try {
            run(arguments);
        } catch (IllegalStateException failure) {
            System.err.println(failure.getMessage());
            System.exit(1);
        }
    }

    private static void run(String[] arguments) throws RdmaException {
        int port = Integer.parseInt(arguments[0]);
        int clients = Integer.parseInt(arguments[1]);
        int size = Integer.parseInt(arguments[2]);
        WaitSet set = WaitSet.create();
        try (CmEventChannel events = CmEventChannel.create(set);
                CompletionChannel channel = CompletionChannel.create(set);
                CmId listener = CmId.create(events, PortSpace.TCP);
                Arena arena = Arena.ofShared()) {
            listener.bindAddress(new InetSocketAddress(port));
            listener.listen(MOST_AT_ONCE);
            // The first request says which device it is.
            CmEvent first = events.awaitEvent();
            DeviceContext device = first.id().context();
            try (ProtectionDomain domain = device.allocateProtectionDomain();
                    CompletionQueue completions = device.createCompletionQueue(
                            COMPLETIONS * MOST_AT_ONCE, channel);
                    MemoryRegion region = domain.register(arena.allocate(2L * size),
                            AccessFlag.LOCAL_WRITE)) {
                completions.requestNotification();
                SendsAtOnce server = new SendsAtOnce(domain, completions, region, size);
                server.onEvent(first);
                server.serve(set, events, channel, clients);
            }
        }
        System.out.println("sent to " + clients + " clients");
    }

    private void serve(WaitSet set, CmEventChannel events, CompletionChannel channel, int clients)
            throws RdmaException {
        while (ended < clients) {
            Object present = set.poll(PATIENCE);
            if (present == events) {
                CmEvent event = events.pollEvent(Duration.ZERO);
                if (event != null) {
                    onEvent(event);
                }
            } else if (present == channel) {
                if (channel.pollEvent(Duration.ZERO) != null) {
                    completions.acknowledgeEvents(1);
                    completions.requestNotification();
                    drain();
                }
            } else {
                throw failure("nothing came for " + PATIENCE.toSeconds() + " s");
            }
        }
    }

    private void onEvent(CmEvent event) throws RdmaException {
        try (event) {
            switch (event.type()) {
                case CONNECT_REQUEST -> sendAtOnce(event.id());
                case ESTABLISHED, DISCONNECTED, TIMEWAIT_EXIT, UNKNOWN -> {
                    // Nothing waits for them but for the end, below.
                }
                default -> throw failure(event.description());
            }
        }
        if (event.type() == CmEventType.DISCONNECTED) {
            end(event.id());
        }
    }

    private void sendAtOnce(CmId id) throws RdmaException {
        QueuePair queuePair = id.createQueuePair(domain, new QueuePairInitAttributes()
                .completionQueue(completions).capabilities(QueuePairCapabilities.ofDepth(1, 1)));
        left.put(queuePair.number(), COMPLETIONS);
        ids.put(queuePair.number(), id);
        queuePair.postReceive(new ReceiveWorkRequest().add(region, size, size));
        SendWorkRequest message = new SendWorkRequest().send().add(region, 0, size)
                .set(SendFlag.SIGNALED);
        id.accept(new ConnectionParameters());
        queuePair.postSend(message);
    }

    private void drain() throws RdmaException {
        while (completions.poll(completion)) {
            onCompletion();
        }
    }

    private void onCompletion() throws RdmaException {
        if (!completion.isSuccess()) {
            throw failure(completion.status() + " of " + completion.opcode());
        }
        if (left.merge(completion.queuePairNumber(), -1, Integer::sum) == 0) {
            ids.get(completion.queuePairNumber()).disconnect();
        }
    }

    private void end(CmId id) throws RdmaException {
        // Where a client disconnects by itself, its completions may have come behind the event that the last wait returned.
        drain();
        int number = id.queuePair().number();
        if (left.remove(number) != 0) {
            throw failure("disconnected before a message had gone each way");
        }
        ids.remove(number);
        id.closeQueuePair();
        id.close();
        ended++;
    }

    private IllegalStateException failure(String reason) {
        return new IllegalStateException("after " + ended + " clients: " + reason);
    }
}
