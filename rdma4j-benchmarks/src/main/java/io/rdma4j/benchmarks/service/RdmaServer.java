// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.benchmarks.service;

import io.rdma4j.cm.CmEvent;
import io.rdma4j.cm.CmEventChannel;
import io.rdma4j.cm.CmId;
import io.rdma4j.connection.ConnectionParameters;
import io.rdma4j.connection.PortSpace;
import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.CompletionChannel;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.SendFlag;
import io.rdma4j.verbs.WaitSet;
import io.rdma4j.verbs.WorkCompletion;
import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntConsumer;

/** The service over RDMA. */
final class RdmaServer implements ServiceServer {
    static final int WORKERS = 3;

    private static final int BACKLOG = 128;
    private static final Duration TICK = Duration.ofMillis(500);
    private static final Duration FOREVER = Duration.ofDays(1);

    private final Shape shape;
    private final Work work;
    private int accepted;

    RdmaServer(Shape shape, Work work) {
        this.shape = shape;
        this.work = work;
    }

    @Override
    public void run(InetSocketAddress address, IntConsumer onListening) throws IOException {
        switch (shape) {
            case ONE_THREAD -> oneThread(address, onListening);
            case THREE_WORKERS -> workers(address, onListening);
            case VIRTUAL_THREADS -> virtual(address, onListening);
            case SELECTOR -> selector(address, onListening);
        }
    }

    private static CmId listen(@Nullable CmEventChannel events, InetSocketAddress address,
            IntConsumer onListening) throws RdmaException {
        CmId listener = events == null ? CmId.create(PortSpace.TCP)
                : CmId.create(events, PortSpace.TCP);
        if (RdmaCaller.FAMILY != null && !address.getAddress().isAnyLocalAddress()) {
            listener.device(RdmaCaller.FAMILY);
        }
        listener.bindAddress(address);
        listener.listen(BACKLOG);
        onListening.accept(listener.localPort());
        return listener;
    }

    // ---------------------------------------------------------------- one thread

    private void oneThread(InetSocketAddress address, IntConsumer onListening)
            throws RdmaException {
        WaitSet set = WaitSet.create();
        CmEventChannel events = CmEventChannel.create(set);
        ServingThread serving = new ServingThread(work, CompletionChannel.create(set));
        listen(events, address, onListening);
        while (true) {
            var ready = set.poll(TICK);
            if (events.equals(ready)) {
                onEvent(events.pollEvent(Duration.ZERO), List.of(serving));
            } else if (ready != null) {
                serving.onReady();
            }
        }
    }

    private void onEvent(@Nullable CmEvent happened, List<ServingThread> threads)
            throws RdmaException {
        if (happened == null) {
            return;
        }
        CmId gone = null;
        try (CmEvent event = happened) {
            switch (event.type()) {
                case CONNECT_REQUEST -> threads.get(accepted++ % threads.size())
                        .accept(event.id());
                case DISCONNECTED, UNREACHABLE, CONNECT_ERROR, DEVICE_REMOVAL -> gone = event.id();
                default -> {
                    // ESTABLISHED, and the end of a connection's wait.
                }
            }
        }
        if (gone != null) {
            gone.close();
        }
    }

    // ---------------------------------------------------------------- three workers

    private void workers(InetSocketAddress address, IntConsumer onListening)
            throws RdmaException {
        List<ServingThread> threads = new ArrayList<>();
        for (int i = 0; i < WORKERS; i++) {
            WaitSet set = WaitSet.create();
            ServingThread serving = new ServingThread(work, CompletionChannel.create(set));
            threads.add(serving);
            Thread.ofPlatform().daemon().name("worker-" + i).start(() -> serving.serve(set));
        }
        CmEventChannel events = CmEventChannel.create();
        listen(events, address, onListening);
        while (true) {
            onEvent(events.awaitEvent(), threads);
        }
    }

    // ---------------------------------------------------------------- a selector

    private void selector(InetSocketAddress address, IntConsumer onListening)
            throws IOException {
        WaitSet set = WaitSet.create();
        CmEventChannel events = CmEventChannel.create(set);
        ServingThread serving = new ServingThread(work, CompletionChannel.create(set));
        CmId listener = listen(events, address, port -> {});
        TcpServer.TcpLoop sockets = new TcpServer.TcpLoop(work);
        Selector selector = sockets.selector();
        // The same port number, so that a client of either kind finds it.
        sockets.listen(new InetSocketAddress(address.getAddress(), listener.localPort()),
                List.of(sockets));
        onListening.accept(listener.localPort());
        while (true) {
            selector.selectNow();
            for (SelectionKey key : selector.selectedKeys()) {
                sockets.serve(key);
            }
            selector.selectedKeys().clear();
            var ready = set.poll(FOREVER, selector);
            while (ready != null) {
                if (ready.equals(events)) {
                    onEvent(events.pollEvent(Duration.ZERO), List.of(serving));
                } else {
                    serving.onReady();
                }
                ready = set.poll(Duration.ZERO);
            }
        }
    }

    // ---------------------------------------------------------------- virtual threads

    private void virtual(InetSocketAddress address, IntConsumer onListening)
            throws RdmaException {
        CmId listener = listen(null, address, onListening);
        while (true) {
            CmId id = listener.awaitRequest();
            Thread.ofVirtual().start(() -> serve(id));
        }
    }

    private void serve(CmId id) {
        try (id) {
            id.createQueuePair();
            try (MemoryRegion buffer = id.protectionDomain().allocateRegion(work.requestBytes(),
                    AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_READ)) {
                MemorySegment reply = MemorySegment.ofArray(new byte[work.replyBytes()]);
                id.postReceive(1, buffer, 0, work.requestBytes());
                id.accept(new ConnectionParameters()
                        .privateData(ServingThread.greeting(buffer)));
                while (isSuccess(id.pollReceiveCompletion(FOREVER))) {
                    id.postReceive(1, buffer, 0, work.requestBytes());
                    id.postSend(2, reply, SendFlag.SIGNALED);
                    if (!isSuccess(id.pollSendCompletion(FOREVER))) {
                        return;
                    }
                }
            }
        } catch (RdmaException e) {
            System.err.println("a connection ends: " + e.getMessage());
        }
    }

    private static boolean isSuccess(@Nullable WorkCompletion completion) {
        return completion != null && completion.isSuccess();
    }
}
