// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.rping;

import io.rdma4j.cm.CmEventChannel;
import io.rdma4j.cm.CmId;
import io.rdma4j.connection.ConnectionParameters;
import io.rdma4j.connection.PortSpace;
import io.rdma4j.testkit.Wait;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.DeviceLimit;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.RdmaClosedException;
import io.rdma4j.verbs.RdmaException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.PrintWriter;
import java.io.Writer;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;

import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** What stays of a connection that does not come about: a device is closed after its last id, unless something is left on it. */
class RpingSessionTest {
    private static final InetSocketAddress ANY_PORT = new InetSocketAddress(
            InetAddress.getLoopbackAddress(), 0);
    private static final Duration TIMEOUT = Duration.ofSeconds(20);

    private static void requireClosed(DeviceContext context) {
        assertThatExceptionOfType(RdmaClosedException.class).isThrownBy(context::queryDevice);
    }

    /** The one of a C program that is interrupted while it connects, for example. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void nothingStaysOfARequestThatWasWithdrawn(boolean isOwnQueuePair) throws Exception {
        DeviceContext context;
        try (CmId listener = CmId.create(PortSpace.TCP)) {
            listener.bindAddress(ANY_PORT);
            listener.listen(1);
            context = listener.context();
            try (CmId request = withdrawn(listener)) {
                RpingSession.Settings settings = new RpingSession.Settings(64, 1, false, false,
                        isOwnQueuePair, TIMEOUT);
                PrintWriter none = new PrintWriter(Writer.nullWriter());
                assertThatExceptionOfType(RdmaException.class).isThrownBy(() -> new RpingSession(
                        request, settings, new RpingOutput(none, none, false)));
            }
        }
        requireClosed(context);
    }

    private static CmId withdrawn(CmId listener) throws Exception {
        CmId request;
        try (CmEventChannel events = CmEventChannel.create();
                CmId client = CmId.create(events, PortSpace.TCP)) {
            client.resolveAddress(null, new InetSocketAddress(ANY_PORT.getAddress(),
                    listener.localPort()), TIMEOUT);
            events.awaitEvent().acknowledge();
            client.resolveRoute(TIMEOUT);
            events.awaitEvent().acknowledge();
            client.createQueuePair(new QueuePairInitAttributes());
            client.connect(new ConnectionParameters());
            request = listener.awaitRequest();
        }
        Wait.until("the request is withdrawn", () -> request.toString().contains("ENDED"));
        return request;
    }

    @Test
    void nothingStaysOfAQueuePairThatTheDeviceRefuses() throws Exception {
        for (boolean isOwn : new boolean[]{false, true}) {
            DeviceContext context;
            try (CmId id = CmId.create(PortSpace.TCP)) {
                id.bindAddress(ANY_PORT);
                context = id.context();
                int tooMany = 1 + (int) context.queryDevice().limit(DeviceLimit.MAX_QP_WR);
                assertThatExceptionOfType(RdmaException.class).isThrownBy(
                        () -> new RpingQueuePair(id, isOwn, tooMany, 1, TIMEOUT));
            }
            requireClosed(context);
        }
    }
}
