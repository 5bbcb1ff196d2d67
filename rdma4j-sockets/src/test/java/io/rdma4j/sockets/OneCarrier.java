// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets;

import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.locks.LockSupport;

/**
 * A program whose virtual threads have one platform thread for all, and wait for each other: in channels, in sockets and in selectors.
 * It fails if one has been pinned. Its argument is a transport.
 */
final class OneCarrier {
    private static final String PINNED = "jdk.VirtualThreadPinned";
    private static final int PAIRS = 40;
    private static final int ROUNDS = 50;

    private final Transport transport;
    private final ServerSocketChannel listener;

    private OneCarrier(Transport transport, ServerSocketChannel listener) {
        this.transport = transport;
        this.listener = listener;
    }

    public static void main(String[] arguments) throws Exception {
        Transport transport = Transport.valueOf(arguments[0]);
        try (ServerSocketChannel listener = transport.listen()) {
            OneCarrier carrier = new OneCarrier(transport, listener);
            // To load a class may pin a thread. Those of all that is done, also for the recording, are loaded by then.
            pinned(carrier::run);
            List<RecordedEvent> pinned = pinned(carrier::run);
            if (!pinned.isEmpty()) {
                throw new AssertionError(pinned.size() + " were pinned: " + pinned.getFirst());
            }
        }
        if (pinned(() -> Thread.ofVirtual().start(Pinning::begin).join()).isEmpty()) {
            throw new AssertionError("one that is pinned is not noticed");
        }
        System.out.println("none was pinned");
        System.exit(0);
    }

    private interface Task {
        void run() throws Exception;
    }

    /** A thread that initializes a class is pinned. */
    private static final class Pinning {
        static {
            LockSupport.parkNanos(Duration.ofMillis(1).toNanos());
        }

        static void begin() {}
    }

    /** {@return the events of threads that were pinned meanwhile} */
    private static List<RecordedEvent> pinned(Task task) throws Exception {
        Path file = Files.createTempFile("pinned", ".jfr");
        try (Recording recording = new Recording()) {
            recording.enable(PINNED).withThreshold(Duration.ZERO);
            recording.start();
            task.run();
            recording.stop();
            recording.dump(file);
            return RecordingFile.readAllEvents(file).stream()
                    .filter(event -> event.getEventType().getName().equals(PINNED)).toList();
        } finally {
            Files.delete(file);
        }
    }

    private void run() throws Exception {
        List<Callable<Void>> tasks = new ArrayList<>();
        for (int i = 0; i < PAIRS; i++) {
            boolean isSelecting = i % 2 == 0;
            tasks.add(this::serve);
            tasks.add(isSelecting ? this::select : this::call);
        }
        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            for (Future<Void> each : threads.invokeAll(tasks)) {
                each.get();
            }
        }
    }

    private Void serve() throws IOException {
        try (SocketChannel channel = listener.accept()) {
            ByteBuffer word = ByteBuffer.allocate(8);
            while (channel.read(word.clear()) > 0) {
                channel.write(word.flip());
            }
        }
        return null;
    }

    private Void call() throws IOException {
        try (SocketChannel channel = transport.open()) {
            channel.connect(listener.getLocalAddress());
            ByteBuffer word = ByteBuffer.allocate(8);
            for (int i = 0; i < ROUNDS; i++) {
                channel.write(word.clear());
                word.clear();
                while (word.hasRemaining()) {
                    channel.read(word);
                }
            }
        }
        return null;
    }

    private Void select() throws IOException {
        try (Selector selector = transport.openSelector();
                SocketChannel channel = transport.open()) {
            channel.connect(listener.getLocalAddress());
            channel.configureBlocking(false);
            SelectionKey key = channel.register(selector, SelectionKey.OP_READ);
            ByteBuffer word = ByteBuffer.allocate(8);
            for (int i = 0; i < ROUNDS; i++) {
                channel.write(word.clear());
                word.clear();
                while (word.hasRemaining()) {
                    selector.select();
                    if (selector.selectedKeys().equals(Set.of(key))) {
                        channel.read(word);
                    }
                    selector.selectedKeys().clear();
                }
            }
        }
        return null;
    }
}
