// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets;

import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.io.InputStream;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.List;
import java.util.concurrent.TimeUnit;

import static org.assertj.core.api.Assertions.assertThat;

/** Small writes that wait for others leave by themselves: the program that wrote them need not read, select or write again. */
@EnabledOnOs(OS.LINUX)
class GatheredWritesTest {
    private static final int BYTES = 5000;
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
}
