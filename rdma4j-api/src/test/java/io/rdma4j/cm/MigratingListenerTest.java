// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.cm;

import io.rdma4j.connection.ConnectionParameters;
import io.rdma4j.connection.PortSpace;
import io.rdma4j.spi.CmListener;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;

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

    private static void arrive(InetSocketAddress to) {
        FakeContext context = FakeProvider.DEVICE.context();
        CmListener.Handler handler = context.listenHandlers.getLast();
        InetSocketAddress from = new InetSocketAddress(FakeDevice.SECOND, 40_000);
        for (int i = 0; i < REQUESTS; i++) {
            handler.onRequest(context, context.connection(), to, from,
                    new ConnectionParameters());
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
