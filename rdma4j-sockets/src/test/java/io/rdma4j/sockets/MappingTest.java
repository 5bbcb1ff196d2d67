// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets;

import io.rdma4j.testkit.Wait;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.ServerSocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Random;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Memory that the peer writes at any time. */
@Timeout(60)
class MappingTest {
    private static final long OFFSET = 1L << 40;

    @ParameterizedTest
    @EnumSource(names = {"ROCE", "IWARP"})
    void mappedMemoryIsWrittenWithoutAMessage(Transport transport) throws Exception {
        try (ServerSocketChannel listener = transport.listen();
                RdmaSocketChannel client = (RdmaSocketChannel) transport.open();
                Arena arena = Arena.ofShared()) {
            client.setOption(RdmaSocketOptions.RDMA_IOMAPSIZE, 1);
            client.connect(listener.getLocalAddress());
            try (RdmaSocketChannel server = (RdmaSocketChannel) listener.accept()) {
                MemorySegment memory = arena.allocate(300_000);
                server.map(memory, OFFSET);
                server.write(ByteBuffer.allocate(1));
                assertThat(client.read(ByteBuffer.allocate(9))).isEqualTo(1);
                ByteBuffer bytes = ByteBuffer.allocate(250_000);
                bytes.put(249_999, (byte) 7);
                assertThat(client.write(bytes, OFFSET + 50_000)).isEqualTo(250_000);
                Wait.until("the last byte is there",
                        () -> memory.get(ValueLayout.JAVA_BYTE, 299_999) == 7);
                refuse("mapped nothing at offset " + (OFFSET - 1),
                        () -> client.write(ByteBuffer.allocate(1), OFFSET - 1));
                refuse("keeps 1 mappings", () -> server.map(memory, 0));
                refuse("keeps 0 mappings", () -> client.map(memory, 0));
                refuse("mapped already", () -> server.map(memory, OFFSET));
                refuse("nothing is mapped", () -> server.unmap(1));
                server.unmap(OFFSET);
                server.map(memory.asSlice(0, 100), 5);
                server.write(ByteBuffer.allocate(1));
                assertThat(client.read(ByteBuffer.allocate(9))).isEqualTo(1);
                client.write(ByteBuffer.wrap(new byte[]{9}), 104);
                Wait.until("a byte is there", () -> memory.get(ValueLayout.JAVA_BYTE, 99) == 9);
            }
        }
    }

    /** Its pages are the memory that the peer writes: no buffer of the receiver is between. */
    @ParameterizedTest
    @EnumSource(names = {"ROCE", "IWARP"})
    void fileIsReceivedIntoItsPages(Transport transport, @TempDir Path directory)
            throws Exception {
        byte[] bytes = new byte[1_000_003];
        new Random(1).nextBytes(bytes);
        Path sent = Files.write(directory.resolve("sent"), bytes);
        Path received = directory.resolve("received");
        try (ServerSocketChannel listener = transport.listen();
                RdmaSocketChannel client = (RdmaSocketChannel) transport.open();
                Arena arena = Arena.ofShared();
                FileChannel from = FileChannel.open(sent);
                FileChannel to = FileChannel.open(received, StandardOpenOption.CREATE_NEW,
                        StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            client.setOption(RdmaSocketOptions.RDMA_IOMAPSIZE, 1);
            client.connect(listener.getLocalAddress());
            try (RdmaSocketChannel server = (RdmaSocketChannel) listener.accept()) {
                server.map(to.map(FileChannel.MapMode.READ_WRITE, 0, bytes.length, arena), 0);
                server.write(ByteBuffer.allocate(1));
                assertThat(client.read(ByteBuffer.allocate(9))).isOne();
                ByteBuffer file = from.map(FileChannel.MapMode.READ_ONLY, 0, bytes.length);
                while (file.hasRemaining()) {
                    client.write(file, file.position());
                }
                // What is written to the stream arrives after what was written to memory before.
                client.write(ByteBuffer.allocate(1));
                assertThat(server.read(ByteBuffer.allocate(9))).isOne();
                server.unmap(0);
            }
        }
        assertThat(received).hasBinaryContent(bytes);
    }

    /** Each mapping takes a credit of few, perhaps the last one while another thread copies the bytes that it wants to write. */
    @ParameterizedTest
    @EnumSource(names = {"ROCE", "IWARP"})
    void threadMapsWhileAnotherWrites(Transport transport) throws Exception {
        int bytes = 20_000;
        try (ServerSocketChannel listener = transport.listen();
                RdmaSocketChannel client = (RdmaSocketChannel) transport.open();
                Arena arena = Arena.ofShared()) {
            client.setOption(RdmaSocketOptions.RDMA_IOMAPSIZE, 1);
            client.setOption(RdmaSocketOptions.RDMA_RQSIZE, 16);
            client.connect(listener.getLocalAddress());
            try (RdmaSocketChannel server = (RdmaSocketChannel) listener.accept()) {
                AtomicReference<IOException> failure = new AtomicReference<>();
                AtomicBoolean hasWritten = new AtomicBoolean();
                MemorySegment memory = arena.allocate(64);
                Thread mapping = start(failure, () -> {
                    while (!hasWritten.get()) {
                        server.map(memory, OFFSET);
                        server.unmap(OFFSET);
                    }
                });
                Thread writing = start(failure, () -> {
                    for (int i = 0; i < bytes; i++) {
                        server.write(ByteBuffer.wrap(new byte[]{(byte) i}));
                    }
                });
                ByteBuffer one = ByteBuffer.allocate(1);
                for (int i = 0; i < bytes; i++) {
                    assertThat(client.read(one.clear())).isOne();
                    assertThat(one.get(0)).isEqualTo((byte) i);
                }
                writing.join();
                hasWritten.set(true);
                mapping.join();
                assertThat(failure.get()).isNull();
            }
        }
    }

    private static Thread start(AtomicReference<IOException> failure, Call call) {
        return Thread.ofPlatform().start(() -> {
            try {
                call.run();
            } catch (IOException e) {
                failure.set(e);
            }
        });
    }

    private interface Call {
        void run() throws IOException;
    }

    private static void refuse(String said, Call call) {
        assertThatThrownBy(call::run).isInstanceOf(IOException.class).hasMessageContaining(said);
    }
}
