// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.cm;

import io.rdma4j.connection.PortSpace;
import io.rdma4j.device.CompletionEvents;
import io.rdma4j.device.DeviceEventChannel;
import io.rdma4j.event.EventQueue;
import io.rdma4j.event.IdleDriver;
import io.rdma4j.event.ProgressDriver;
import io.rdma4j.event.UnacknowledgedEvents;
import io.rdma4j.verbs.AsyncEvent;
import io.rdma4j.verbs.AsyncEventType;
import io.rdma4j.verbs.CompletionChannel;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.DeviceKind;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.SharedReceiveQueue;
import io.rdma4j.verbs.TransportType;
import io.rdma4j.verbs.WaitSet;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** One thread that waits for the completions and the connections of several devices. */
class WaitSetTest {
    private static final Duration TIMEOUT = Duration.ofSeconds(20);

    private final WaitSet set = WaitSet.create();
    private final FakeDevice first = new FakeDevice("fake1", DeviceKind.NATIVE,
            TransportType.INFINIBAND);
    private final FakeDevice second = new FakeDevice("fake2", DeviceKind.SOFTWARE,
            TransportType.IWARP);
    private final List<AutoCloseable> opened = new ArrayList<>();

    @AfterEach
    void close() throws Exception {
        for (AutoCloseable each : opened.reversed()) {
            each.close();
        }
        set.close();
        FakeProvider.offer(FakeProvider.DEVICE);
    }

    private <T extends AutoCloseable> T opened(T each) {
        opened.add(each);
        return each;
    }

    /** A queue of a device that goes on by itself, in whichever thread calls {@link CompletionEvents#publish}. */
    private CompletionEvents attached(CompletionChannel channel, FakeQueue queue) throws Exception {
        CompletionEvents events = CompletionEvents.attach(channel, queue,
                new UnacknowledgedEvents(), ProgressDriver.NONE);
        opened.add(events::detach);
        return events;
    }

    private CmId bound(CmEventChannel events, FakeDevice device) throws Exception {
        CmId id = opened(CmId.create(events, PortSpace.TCP));
        id.device(device.name());
        id.bindAddress(new InetSocketAddress(FakeDevice.FIRST, 0));
        return id;
    }

    @Test
    void oneThreadWaitsForCompletionsAndConnectionsOfTwoDevices() throws Exception {
        FakeProvider.offer(first, second);
        CompletionChannel completions = opened(CompletionChannel.create(set));
        CmEventChannel connections = opened(CmEventChannel.create(set));
        FakeQueue queue = new FakeQueue();
        FakeQueue otherQueue = new FakeQueue();
        CompletionEvents announcements = attached(completions, queue);
        CompletionEvents otherAnnouncements = attached(completions, otherQueue);
        CmId id = bound(connections, first);
        CmId otherId = bound(connections, second);

        BlockingQueue<Object> seen = new LinkedBlockingQueue<>();
        Thread waiting = Thread.ofPlatform().daemon().start(() -> {
            try {
                while (true) {
                    Object channel = set.await();
                    if (channel == completions) {
                        seen.add(completions.awaitEvent());
                    } else if (channel == connections) {
                        try (CmEvent event = connections.awaitEvent()) {
                            seen.add(event.id());
                        }
                    }
                }
            } catch (RdmaException closed) {
                seen.add(closed.errno());
            }
        });
        for (int round = 0; round < 50; round++) {
            announcements.publish();
            assertThat(seen.poll(20, TimeUnit.SECONDS)).isSameAs(queue);
            tellOfAddress(second);
            assertThat(seen.poll(20, TimeUnit.SECONDS)).isSameAs(otherId);
            otherAnnouncements.publish();
            assertThat(seen.poll(20, TimeUnit.SECONDS)).isSameAs(otherQueue);
            tellOfAddress(first);
            assertThat(seen.poll(20, TimeUnit.SECONDS)).isSameAs(id);
        }
        set.close();
        assertThat(seen.poll(20, TimeUnit.SECONDS)).isEqualTo(Errno.EBADF);
        waiting.join(TIMEOUT);
        assertThat(waiting.isAlive()).isFalse();
        // The channels go on without the set.
        announcements.publish();
        assertThat(completions.pollEvent(Duration.ZERO)).isSameAs(queue);
    }

    private static void tellOfAddress(FakeDevice device) {
        device.context().watchers.forEach(watcher -> watcher.onAddressChanged(FakeDevice.FIRST));
    }

    /** A provider with a channel of its own per context, that a thread of its own waits for. */
    private static final class NativeChannel {
        private final BlockingQueue<CompletionEvents> completed = new LinkedBlockingQueue<>();

        NativeChannel() {
            Thread.ofPlatform().daemon().start(() -> {
                try {
                    while (true) {
                        completed.take().publish();
                    }
                } catch (InterruptedException end) {
                    // It ends with the process.
                }
            });
        }
    }

    @Test
    void providersWithChannelsOfTheirOwnFeedOneChannel() throws Exception {
        CompletionChannel channel = opened(CompletionChannel.create());
        NativeChannel ofFirst = new NativeChannel();
        NativeChannel ofSecond = new NativeChannel();
        FakeQueue queue = new FakeQueue();
        FakeQueue otherQueue = new FakeQueue();
        CompletionEvents events = attached(channel, queue);
        CompletionEvents otherEvents = attached(channel, otherQueue);
        ofFirst.completed.add(events);
        assertThat(channel.pollEvent(TIMEOUT)).isSameAs(queue);
        ofSecond.completed.add(otherEvents);
        assertThat(channel.pollEvent(TIMEOUT)).isSameAs(otherQueue);
        assertThatExceptionOfType(RdmaException.class).isThrownBy(channel::close)
                .withMessageContaining("2 completion queue(s)");
    }

    @Test
    void channelsThatAlwaysHaveEventsAreReturnedInTurn() throws Exception {
        CompletionChannel one = opened(CompletionChannel.create(set));
        CompletionChannel other = opened(CompletionChannel.create(set));
        CompletionEvents ofOne = attached(one, new FakeQueue());
        CompletionEvents ofOther = attached(other, new FakeQueue());
        for (int i = 0; i < 3; i++) {
            ofOne.publish();
            ofOther.publish();
        }
        assertThat(set.poll(TIMEOUT)).isSameAs(one);
        assertThat(set.poll(TIMEOUT)).isSameAs(other);
        one.awaitEvent();
        assertThat(set.poll(TIMEOUT)).isSameAs(one);
        assertThat(set.poll(TIMEOUT)).isSameAs(other);
        for (int i = 0; i < 2; i++) {
            one.awaitEvent();
        }
        assertThat(set.poll(TIMEOUT)).isSameAs(other);
        assertThat(set.poll(TIMEOUT)).isSameAs(other);
    }

    @Test
    void setWithoutEventsWaitsInVain() throws Exception {
        CompletionChannel channel = opened(CompletionChannel.create(set));
        CompletionEvents events = attached(channel, new FakeQueue());
        assertThat(set.poll(Duration.ZERO)).isNull();
        events.publish();
        channel.awaitEvent();
        assertThat(set.poll(Duration.ofMillis(1))).isNull();
        events.publish();
        events.detach();
        opened.removeLast();
        assertThat(set.poll(Duration.ZERO)).isNull();
    }

    @Test
    void closedChannelLeavesTheSet() throws Exception {
        CompletionChannel channel = CompletionChannel.create(set);
        CompletionEvents events = CompletionEvents.attach(channel, new FakeQueue(),
                new UnacknowledgedEvents(), ProgressDriver.NONE);
        events.publish();
        assertThat(set.poll(TIMEOUT)).isSameAs(channel);
        events.detach();
        channel.close();
        assertThat(set.poll(Duration.ZERO)).isNull();
    }

    @Test
    void channelCanBeWaitedForBesideItsSet() throws Exception {
        CompletionChannel channel = opened(CompletionChannel.create(set));
        FakeQueue queue = new FakeQueue();
        CompletionEvents events = attached(channel, queue);
        CompletableFuture<Object> alone = CompletableFuture.supplyAsync(() -> {
            try {
                return channel.awaitEvent();
            } catch (RdmaException e) {
                throw new AssertionError(e);
            }
        });
        events.publish();
        assertThat(alone.get(20, TimeUnit.SECONDS)).isSameAs(queue);
    }

    @Test
    void oneSelectionKeyStandsForAllChannelsOfTheSet() throws Exception {
        CompletionChannel completions = opened(CompletionChannel.create(set));
        CmEventChannel connections = opened(CmEventChannel.create(set));
        CompletionEvents events = attached(completions, new FakeQueue());
        FakeProvider.offer(first);
        bound(connections, first);
        try (Selector selector = Selector.open()) {
            SelectionKey key = set.selectableChannel().register(selector, SelectionKey.OP_READ);
            assertThat(isReadable(selector, key)).isFalse();
            assertThat(events.isSelectable()).isTrue();
            events.publish();
            tellOfAddress(first);
            assertThat(isReadable(selector, key)).isTrue();
            completions.awaitEvent();
            assertThat(isReadable(selector, key)).isTrue();
            connections.awaitEvent().acknowledge();
            assertThat(isReadable(selector, key)).isFalse();
        }
    }

    /** An asynchronous event about nothing. */
    private static final class News implements AsyncEvent {
        @Override
        public AsyncEventType type() {
            return AsyncEventType.PORT_ACTIVE;
        }

        @Override
        public @Nullable QueuePair queuePair() {
            return null;
        }

        @Override
        public @Nullable CompletionQueue completionQueue() {
            return null;
        }

        @Override
        public @Nullable SharedReceiveQueue sharedReceiveQueue() {
            return null;
        }

        @Override
        public int port() {
            return 1;
        }

        @Override
        public void acknowledge() {}
    }

    @Test
    void asynchronousEventsOfADeviceCanJoinWheneverTheyLike() throws Exception {
        FakeContext context = opened(first.open((InetAddress) null));
        DeviceEventChannel channel = context.asyncEventChannel();
        EventQueue<AsyncEvent, RdmaException> device = EventQueue.of(channel);
        News early = new News();
        News late = new News();
        device.publish(early);
        assertThat(set.poll(Duration.ZERO)).isNull();

        channel.join(set);
        channel.join(set);

        assertThat(set.poll(TIMEOUT)).isSameAs(channel);
        assertThat(context.asyncEventChannel().awaitEvent()).isSameAs(early);
        assertThat(set.poll(Duration.ZERO)).isNull();
        device.publish(late);
        assertThat(set.await()).isSameAs(channel);
        assertThat(channel.pollEvent(Duration.ZERO)).isSameAs(late);
        assertThat(context.asyncEventChannel().pollEvent(Duration.ZERO)).isNull();
    }

    /** As a channel that is created on a set: drivers of devices that published here before are driven there. */
    @Test
    void setThatIsJoinedHasTheDriversOfTheChannel() throws Exception {
        List<String> calls = new ArrayList<>();
        IdleDriver driver = new IdleDriver() {
            @Override
            public void drive(long timeoutNs) {
                calls.add("driven");
            }

            @Override
            public void release() {
                calls.add("released");
            }

            @Override
            public void waitElsewhere() {
                calls.add("elsewhere");
            }

            @Override
            public void forget(Waiter waiter) {
                calls.add("forgotten");
            }
        };
        FakeContext context = opened(first.open((InetAddress) null));
        EventQueue<AsyncEvent, RdmaException> device = EventQueue
                .of(context.asyncEventChannel());
        device.addDriver(driver);
        context.asyncEventChannel().join(set);
        set.selectableChannel();
        assertThat(calls).containsExactly("elsewhere");
        device.removeDriver(driver);
        assertThat(calls).containsExactly("elsewhere", "forgotten", "forgotten");
        set.waitElsewhere();
        assertThat(calls).as("no device is left").hasSize(3);
        device.addDriver(driver);
        set.waitElsewhere();
        assertThat(calls).hasSize(4).endsWith("elsewhere");
    }

    @Test
    void asynchronousEventsBelongToOneSetAtATime() throws Exception {
        FakeContext context = first.open((InetAddress) null);
        DeviceEventChannel channel = context.asyncEventChannel();
        WaitSet other = opened(WaitSet.create());
        channel.join(set);
        assertErrno(Errno.EBUSY, () -> channel.join(other));
        set.close();
        assertErrno(Errno.EBADF, () -> channel.join(set));
        channel.join(other);
        EventQueue.of(channel).publish(new News());
        assertThat(other.poll(TIMEOUT)).isSameAs(channel);

        assertErrno(Errno.EBUSY, channel::close);
        context.close();
        assertThat(other.poll(Duration.ZERO)).isNull();
        assertErrno(Errno.EBADF, () -> channel.join(other));
        assertErrno(Errno.EBADF, channel::awaitEvent);
        channel.close();
    }

    private static void assertErrno(Errno expected, ThrowingCallable call) {
        assertThatExceptionOfType(RdmaException.class).isThrownBy(call)
                .satisfies(e -> assertThat(e.errno()).isEqualTo(expected));
    }

    private static boolean isReadable(Selector selector, SelectionKey key) throws Exception {
        selector.selectedKeys().clear();
        selector.selectNow();
        return selector.selectedKeys().contains(key);
    }

    @Test
    void interruptedWaitEndsWithEintr() {
        Thread.currentThread().interrupt();
        assertThatExceptionOfType(RdmaException.class).isThrownBy(set::await)
                .satisfies(e -> assertThat(e.errno()).isEqualTo(Errno.EINTR));
        assertThat(Thread.interrupted()).isTrue();
    }
}
