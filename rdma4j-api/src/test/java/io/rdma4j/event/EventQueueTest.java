// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.event;

import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import java.io.File;
import java.io.IOException;
import java.nio.channels.SelectableChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assumptions.assumeThat;

/** Events that a selector waits for. */
class EventQueueTest {
    private static final int MANY = 200;

    private final EventQueue<Integer, RdmaException> events = Events.queue();
    private final Selector selector = Selector.open();

    EventQueueTest() throws IOException {}

    @AfterEach
    void close() throws IOException {
        events.close();
        selector.close();
    }

    private SelectionKey select(EventQueue<Integer, RdmaException> from) throws IOException {
        return from.selectableChannel().register(selector, SelectionKey.OP_READ);
    }

    private boolean isReadable(SelectionKey key) throws IOException {
        selector.selectedKeys().clear();
        selector.selectNow();
        return selector.selectedKeys().contains(key);
    }

    @Test
    void theChannelIsReadableExactlyWhileAnEventIsThere() throws Exception {
        SelectionKey key = select(events);
        assertThat(isReadable(key)).isFalse();
        events.publish(1);
        events.publish(2);
        assertThat(isReadable(key)).isTrue();
        assertThat(events.take()).isEqualTo(1);
        assertThat(isReadable(key)).isTrue();
        assertThat(events.poll(Duration.ZERO)).isEqualTo(2);
        assertThat(isReadable(key)).isFalse();
        assertThat(events.poll(Duration.ZERO)).isNull();
        events.publish(3);
        assertThat(isReadable(key)).isTrue();
    }

    @Test
    void eventsThatWereThereBeforeCount() throws Exception {
        events.publish(1);
        assertThat(isReadable(select(events))).isTrue();
    }

    @Test
    void itIsAlwaysTheSameChannel() throws Exception {
        assertThat(events.isSelectable()).isFalse();
        SelectableChannel channel = events.selectableChannel();
        assertThat(events.selectableChannel()).isSameAs(channel);
        assertThat(channel.isBlocking()).isFalse();
        assertThat(events.isSelectable()).isTrue();
    }

    @Test
    void droppedEventsMakeItUnreadable() throws Exception {
        SelectionKey key = select(events);
        UnacknowledgedEvents one = new UnacknowledgedEvents();
        UnacknowledgedEvents other = new UnacknowledgedEvents();
        events.publish(new EventQueue.Published<>(1, one));
        events.publish(new EventQueue.Published<>(2, other));
        events.discard(one);
        assertThat(isReadable(key)).isTrue();
        events.discard(other);
        assertThat(isReadable(key)).isFalse();
    }

    @Test
    void movedEventsMakeTheOtherReadable() throws Exception {
        EventQueue<Integer, RdmaException> target = Events.queue();
        SelectionKey key = select(events);
        SelectionKey targetKey = select(target);
        UnacknowledgedEvents object = new UnacknowledgedEvents();
        events.publish(new EventQueue.Published<>(1, object));
        List<EventQueue.Published<Integer>> moved = events.removeUnlessTaken(object,
                event -> true);
        assertThat(moved).isNotNull().hasSize(1);
        moved.forEach(target::publish);
        assertThat(isReadable(key)).isFalse();
        assertThat(isReadable(targetKey)).isTrue();
        target.close();
    }

    @Test
    void interruptedThreadsPublishAndTake() throws Exception {
        SelectionKey key = select(events);
        Thread.currentThread().interrupt();
        events.publish(1);
        assertThat(Thread.interrupted()).isTrue();
        assertThat(isReadable(key)).isTrue();
        assertThat(events.take()).isEqualTo(1);
        UnacknowledgedEvents object = new UnacknowledgedEvents();
        events.publish(new EventQueue.Published<>(2, object));
        Thread.currentThread().interrupt();
        events.discard(object);
        assertThat(Thread.interrupted()).isTrue();
        assertThat(isReadable(key)).isFalse();
        assertThat(key.isValid()).isTrue();
    }

    /** So that who is interrupted can take what is left before it closes a channel. */
    @Test
    void interruptedThreadsLookWithoutWaiting() throws Exception {
        events.publish(1);
        Thread.currentThread().interrupt();
        assertThat(events.poll(Duration.ZERO)).isEqualTo(1);
        assertThat(events.poll(Duration.ZERO)).isNull();
        assertThatExceptionOfType(RdmaException.class)
                .isThrownBy(() -> events.poll(Duration.ofSeconds(1)))
                .matches(e -> e.errno() == Errno.EINTR);
        assertThat(Thread.interrupted()).isTrue();
    }

    @Test
    void aThreadInASelectorIsWoken() throws Exception {
        SelectionKey key = select(events);
        Thread publisher = Thread.ofPlatform().start(() -> events.publish(1));
        assertThat(selector.select()).isEqualTo(1);
        assertThat(key.isReadable()).isTrue();
        publisher.join();
    }

    /** A selector registers its channels by native methods, too; a channel that is closed then wakes no thread. */
    private static boolean isWaiting(Thread thread) {
        StackTraceElement[] stack = thread.getStackTrace();
        return stack.length > 0 && stack[0].isNativeMethod()
                && stack[0].getClassName().startsWith("sun.nio.ch.")
                && List.of("wait", "poll").contains(stack[0].getMethodName());
    }

    @Test
    void closingWakesWhoeverSelects() throws Exception {
        SelectionKey key = select(events);
        CompletableFuture<Integer> selected = new CompletableFuture<>();
        Thread thread = Thread.ofPlatform().daemon().start(() -> {
            try {
                selected.complete(selector.select());
            } catch (IOException e) {
                selected.completeExceptionally(e);
            }
        });
        long endNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
        while (!isWaiting(thread)) {
            assertThat(System.nanoTime() - endNs).as("the thread does not select within a minute")
                    .isNegative();
            Thread.onSpinWait();
        }
        events.close();
        selected.get(60, TimeUnit.SECONDS);
        assertThat(key.isValid()).isFalse();
        assertThatExceptionOfType(RdmaException.class).isThrownBy(events::selectableChannel)
                .satisfies(e -> assertThat(e.errno()).isEqualTo(Errno.EBADF));
    }

    @Test
    void channelsThatTheApplicationClosesLeaveNothingBehind() throws Exception {
        File files = new File("/proc/self/fd");
        assumeThat(files).isDirectory();
        events.selectableChannel().close();
        int before = count(files);
        for (int i = 0; i < MANY; i++) {
            events.selectableChannel().close();
        }
        assertThat(count(files) - before).isLessThan(MANY / 2);
    }

    private static int count(File files) {
        String[] names = files.list();
        return names == null ? 0 : names.length;
    }

    @Test
    void anApplicationThatClosesTheChannelHarmsNobody() throws Exception {
        SelectableChannel first = events.selectableChannel();
        first.close();
        events.publish(1);
        events.publish(2);
        assertThat(events.take()).isEqualTo(1);
        SelectionKey key = select(events);
        assertThat(key.channel()).isNotSameAs(first);
        assertThat(isReadable(key)).isTrue();
        key.channel().close();
        assertThat(events.take()).isEqualTo(2);
        events.publish(3);
        assertThat(events.take()).isEqualTo(3);
    }
}
