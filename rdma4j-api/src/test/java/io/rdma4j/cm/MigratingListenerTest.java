// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.cm;

import io.rdma4j.connection.ConnectionParameters;
import io.rdma4j.connection.PortSpace;
import io.rdma4j.event.ProgressDriver;
import io.rdma4j.spi.CmConnection;
import io.rdma4j.spi.Refusal;
import io.rdma4j.verbs.DeviceKind;
import io.rdma4j.verbs.TransportType;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import static org.assertj.core.api.Assertions.assertThat;

/** A listener that changes its channel while requests reach it. */
@Timeout(60)
class MigratingListenerTest {
    private static final int REQUESTS = 20_000;

    @Test
    void eachRequestIsInTheChannelOfItsEvent() throws Exception {
        CmEventChannel first = CmEventChannel.create();
        CmEventChannel second = CmEventChannel.create();
        CmId listener = CmId.create(first, PortSpace.TCP);
        listener.bindAddress(new InetSocketAddress(FakeDevice.FIRST, 0));
        listener.listen(REQUESTS);
        CompletableFuture<Void> arriving = CompletableFuture
                .runAsync(() -> arrive(listener.localAddress()));

        boolean isFirst = true;
        int taken = 0;
        while (taken < REQUESTS && !arriving.isCompletedExceptionally()) {
            isFirst = !isFirst;
            listener.migrate(isFirst ? first : second);
            taken += takeAll(isFirst ? first : second);
        }

        arriving.join();
        listener.close();
        first.close();
        second.close();
    }

    /** When its last user is moved, the first request has moved already. */
    private static final class MovingDriver implements ProgressDriver {
        Runnable onLastMove = () -> {};

        @Override
        public boolean tryAcquire(Waiter waiter) {
            return false;
        }

        @Override
        public void drive(long timeoutNs) {
            throw new IllegalStateException("no thread is in");
        }

        @Override
        public void release() {
            throw new IllegalStateException("no thread is in");
        }

        @Override
        public void wake() {}

        @Override
        public void waitElsewhere() {}

        @Override
        public void forget(Waiter waiter) {
            onLastMove.run();
            onLastMove = () -> {};
        }
    }

    /** While the second of two requests moves, the peer withdraws the first. */
    @Test
    void withdrawalComesBehindItsRequest() throws Exception {
        FakeDevice device = new FakeDevice("fake1", DeviceKind.SOFTWARE, TransportType.INFINIBAND);
        MovingDriver driver = new MovingDriver();
        device.driver = driver;
        FakeProvider.offer(device);
        try (CmEventChannel first = CmEventChannel.create();
                CmEventChannel second = CmEventChannel.create();
                CmId listener = CmId.create(first, PortSpace.TCP)) {
            listener.bindAddress(new InetSocketAddress(FakeDevice.FIRST, 0));
            listener.listen(2);
            CmConnection.Handler withdrawn = arrive(device.context(), listener.localAddress());
            arrive(device.context(), listener.localAddress());
            driver.onLastMove = () -> CompletableFuture
                    .runAsync(() -> withdrawn
                            .onRefused(new Refusal(4, "the peer has withdrawn", new byte[0])))
                    .orTimeout(20, TimeUnit.SECONDS).join();

            listener.migrate(second);

            CmId request = expect(second, CmEventType.CONNECT_REQUEST);
            assertThat(expect(second, CmEventType.REJECTED)).isSameAs(request);
            expect(second, CmEventType.CONNECT_REQUEST).close();
            request.close();
        } finally {
            FakeProvider.offer(FakeProvider.DEVICE);
        }
    }

    private static CmId expect(CmEventChannel channel, CmEventType type) throws Exception {
        try (CmEvent event = channel.pollEvent(Duration.ZERO)) {
            assertThat(event).isNotNull();
            assertThat(event.type()).isEqualTo(type);
            return event.id();
        }
    }

    private static CmConnection.Handler arrive(FakeContext context, InetSocketAddress to) {
        return context.listenHandlers.getLast().onRequest(context, context.connection(), to,
                new InetSocketAddress(FakeDevice.SECOND, 40_000), new ConnectionParameters());
    }

    private static void arrive(InetSocketAddress to) {
        for (int i = 0; i < REQUESTS; i++) {
            arrive(FakeProvider.DEVICE.context(), to);
        }
    }

    /** Takes what waits in the listener's channel. {@return how many requests} */
    private static int takeAll(CmEventChannel channel) throws Exception {
        int taken = 0;
        CmEvent event = channel.pollEvent(Duration.ZERO);
        while (event != null) {
            assertThat(event.id().channel()).isSameAs(channel);
            event.acknowledge();
            event.id().close();
            taken++;
            event = channel.pollEvent(Duration.ZERO);
        }
        return taken;
    }
}
