// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets;

import io.rdma4j.testkit.Wait;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;

import static org.assertj.core.api.Assertions.assertThat;

/** What looks cost that find nothing, or that come after a wait. */
@Timeout(60)
class VainLookTest {
    /** Counts what a channel tells. */
    private record Count(AtomicInteger told) implements ChannelReadiness.Listener {
        @Override
        public void onReady(int operations) {
            told.incrementAndGet();
        }

        @Override
        public void onRedirected() {}

        @Override
        public void onRelease() {}

        @Override
        public boolean isSelected() {
            return false;
        }
    }

    private static ChannelReadiness readiness(SocketChannel channel) {
        return ((RdmaSocketChannel) channel).readiness();
    }

    @Test
    void lookThatFindsNothingTellsNothing() throws Exception {
        try (Connected pair = Connected.over(Transport.ROCE)) {
            ByteBuffer one = ByteBuffer.allocate(1);
            pair.peer().write(one.duplicate());
            pair.channel().read(one);
            pair.channel().configureBlocking(false);
            ChannelReadiness readiness = readiness(pair.channel());
            Count count = new Count(new AtomicInteger());
            readiness.add(count);
            // The last acknowledgements may still come, each at most once.
            Wait.until("ten looks find nothing", () -> {
                int before = count.told().get();
                for (int i = 0; i < 10; i++) {
                    readiness.poll();
                }
                return count.told().get() == before;
            });
            int before = count.told().get();
            assertThat(pair.channel().read(ByteBuffer.allocate(1))).isZero();
            assertThat(count.told()).hasValue(before);
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"ROCE", "RULED_RDMA"})
    void readOfAChannelWithASelectorLeavesTheDeviceToIt(Transport transport) throws Exception {
        try (Selector selector = transport.openSelector();
                Connected pair = Connected.over(transport)) {
            ChannelReadiness readiness = Objects
                    .requireNonNull(ChannelReadiness.of(pair.channel()));
            assertThat(readiness.isSelected()).isFalse();
            pair.channel().configureBlocking(false);
            SelectionKey key = pair.channel().register(selector, 0);
            assertThat(readiness.isSelected()).isTrue();
            key.cancel();
            assertThat(readiness.isSelected()).isFalse();
        }
    }

    /** Nobody selects, so the engine's own thread sees to it. */
    @ParameterizedTest
    @EnumSource(names = {"ROCE", "IWARP", "RULED_RDMA"})
    void bytesComeForWhoReadsAgainAndAgainThoughTheChannelHasASelector(Transport transport)
            throws Exception {
        try (Selector selector = transport.openSelector();
                Connected pair = Connected.over(transport)) {
            pair.channel().configureBlocking(false);
            pair.channel().register(selector, SelectionKey.OP_READ);
            for (int i = 0; i < 100; i++) {
                pair.peer().write(ByteBuffer.allocate(1));
                Wait.until("the byte is read",
                        () -> pair.channel().read(ByteBuffer.allocate(1)) == 1);
            }
        }
    }

    @Test
    void selectionThatHasWaitedDoesNotPollOnceMore() throws Exception {
        try (Selector selector = RdmaSockets.openSelector();
                SwitchedChannel channel = new SwitchedChannel()) {
            channel.register(selector, SelectionKey.OP_READ);
            OneSelection selecting = OneSelection.waiting(selector);
            channel.becomeReady();
            selecting.assertFinds(1);
            assertThat(channel.polls).hasValue(0);
        }
    }
}
