// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic;

import io.rdma4j.verbs.CompletionChannel;
import io.rdma4j.verbs.CompletionQueue;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.time.Duration;

import static org.assertj.core.api.Assertions.assertThat;

/** A completion channel that a selector waits for, with completion queues of two devices. */
class SelectableChannelTest {
    private final CompletionChannel channel = CompletionChannel.create();
    private final Selector selector = Selector.open();
    private final Pair pair = new Pair();
    private final Pair.Side a = side(pair.a.node);
    private final Pair.Side b = side(pair.b.node);
    private final SelectionKey key;

    SelectableChannelTest() throws Exception {
        Pair.Settings settings = new Pair.Settings();
        a.connect(b, settings);
        b.connect(a, settings);
        key = channel.selectableChannel().register(selector, SelectionKey.OP_READ);
    }

    private Pair.Side side(Simulation.Node node) throws Exception {
        return pair.new Side(node, node.context.createCompletionQueue(16, channel),
                new Pair.Settings());
    }

    @AfterEach
    void close() throws IOException {
        selector.close();
    }

    private boolean isReadable() throws IOException {
        selector.selectedKeys().clear();
        selector.selectNow();
        return selector.selectedKeys().contains(key);
    }

    private void exchange() throws Exception {
        b.receive(1, 64);
        a.send(2, 64);
        pair.settle();
    }

    private CompletionQueue takeEvent() throws IOException {
        CompletionQueue queue = channel.pollEvent(Duration.ZERO);
        assertThat(queue).isNotNull();
        queue.acknowledgeEvents(1);
        return queue;
    }

    @Test
    void eitherDeviceMakesItReadable() throws Exception {
        for (Pair.Side side : new Pair.Side[]{a, b}) {
            side.completionQueue.requestNotification();
            assertThat(isReadable()).isFalse();
            exchange();
            assertThat(isReadable()).isTrue();
            assertThat(takeEvent()).isSameAs(side.completionQueue);
            assertThat(isReadable()).isFalse();
            a.takeCompletions();
            b.takeCompletions();
        }
    }

    @Test
    void itIsReadableUntilTheLastEventIsTaken() throws Exception {
        a.completionQueue.requestNotification();
        b.completionQueue.requestNotification();
        exchange();
        takeEvent();
        assertThat(isReadable()).isTrue();
        takeEvent();
        assertThat(isReadable()).isFalse();
    }

    @Test
    void completionsThatNobodyAskedForDoNotMakeItReadable() throws Exception {
        exchange();
        assertThat(isReadable()).isFalse();
        // Nor do they afterwards: what came before does not count.
        a.completionQueue.requestNotification();
        assertThat(isReadable()).isFalse();
    }

    @Test
    void eventsOfAClosedQueueMakeItUnreadable() throws Exception {
        a.completionQueue.requestNotification();
        exchange();
        assertThat(isReadable()).isTrue();
        a.queuePair.close();
        a.completionQueue.close();
        assertThat(isReadable()).isFalse();
    }

    @Test
    void closingTheChannelEndsTheRegistration() throws Exception {
        for (Pair.Side side : new Pair.Side[]{a, b}) {
            side.queuePair.close();
            side.completionQueue.close();
        }
        channel.close();
        assertThat(key.isValid()).isFalse();
    }
}
