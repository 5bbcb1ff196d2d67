// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets;

import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.io.IOException;
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

import static org.assertj.core.api.Assertions.assertThat;

/** Small writes that wait for others leave by themselves: the program that wrote them need not read, select or write again. */
@EnabledOnOs(OS.LINUX)
class GatheredWritesTest {
    private static final int BYTES = 5000;
    private static final int ROUNDS = 11;
    private static final long SOON_NS = TimeUnit.MILLISECONDS.toNanos(500);
    private static final int PATIENCE_MS = (int) TimeUnit.SECONDS.toMillis(20);

    @ParameterizedTest
    @EnumSource(names = {"ROCE", "IWARP"})
    void lastBytesArriveThoughTheirProgramDoesNothingMore(Transport transport) throws Exception {
        try (ServerSocketChannel listener = transport.listen();
                ForkedProgram program = new ForkedProgram(WritingPeer.class, List.of(),
                        transport.name(), String.valueOf(
                                ((InetSocketAddress) listener.getLocalAddress()).getPort()),
                        String.valueOf(BYTES));
                SocketChannel channel = listener.accept()) {
            channel.socket().setSoTimeout(PATIENCE_MS);
            InputStream in = channel.socket().getInputStream();
            assertThat(in.readNBytes(BYTES)).hasSize(BYTES);
            program.tell("end");
            assertThat(in.read()).isNegative();
            program.awaitEnd();
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"ROCE", "IWARP"})
    void lastBytesArriveBeforeTheEndOfTheOutput(Transport transport) throws Exception {
        try (Connected connected = Connected.over(transport)) {
            SocketChannel from = connected.channel();
            for (int i = 0; i < BYTES; i++) {
                from.write(ByteBuffer.allocate(1));
            }
            from.shutdownOutput();
            assertThat(connected.peer().socket().getInputStream().readAllBytes()).hasSize(BYTES);
        }
    }

    /**
     * A thread has waited in a read, and led meanwhile. Then it writes, or a peer connects, and it does something else for long: the engine's thread, which has
     * rested, takes over soon.
     */
    @ParameterizedTest
    @EnumSource(names = {"ROCE", "IWARP"})
    void nothingWaitsLongForAThreadThatHasGoneAway(Transport transport) throws Exception {
        try (ForkedProgram program = new ForkedProgram(LeavingPeer.class, List.of(),
                transport.name()); SocketChannel channel = transport.open()) {
            InetSocketAddress address = Transport.loopback(Integer.parseInt(program.line()));
            channel.connect(address);
            channel.socket().setSoTimeout(PATIENCE_MS);
            List<Long> tookNs = new ArrayList<>();
            for (int i = 0; i < ROUNDS; i++) {
                tookNs.add(takeNs(program, channel, true, () -> assertThat(channel.socket()
                        .getInputStream().readNBytes(LeavingPeer.BYTES))
                        .hasSize(LeavingPeer.BYTES)));
                tookNs.add(takeNs(program, channel, false, () -> {
                    try (SocketChannel other = transport.open()) {
                        other.connect(address);
                    }
                }));
            }
            channel.shutdownOutput();
            program.awaitEnd();
            // Not each: other programs may have the processors for a while.
            assertThat(tookNs.stream().filter(each -> each > SOON_NS).count()).as("%s", tookNs)
                    .isLessThanOrEqualTo(1);
        }
    }

    private interface Step {
        void run() throws IOException;
    }

    /** {@return how long a step takes, from the moment when the program's thread does nothing with its channels} */
    private static long takeNs(ForkedProgram program, SocketChannel channel, boolean isWriting,
            Step step) throws IOException {
        channel.write(ByteBuffer.wrap(new byte[]{(byte) (isWriting ? 1 : 0)}));
        assertThat(program.line()).isEqualTo("away");
        long startNs = System.nanoTime();
        step.run();
        long tookNs = System.nanoTime() - startNs;
        program.tell("back");
        return tookNs;
    }
}
