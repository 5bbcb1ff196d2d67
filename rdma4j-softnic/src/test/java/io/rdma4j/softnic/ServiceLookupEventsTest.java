// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic;

import io.rdma4j.connection.ConnectionParameters;
import io.rdma4j.connection.DatagramParameters;
import io.rdma4j.connection.PortSpace;
import io.rdma4j.spi.CmDatagrams;
import io.rdma4j.spi.CmListener;
import io.rdma4j.spi.CmLookup;
import io.rdma4j.spi.CmLookupRequest;
import io.rdma4j.spi.CmOptions;
import io.rdma4j.spi.ConnectRequest;
import io.rdma4j.spi.ListenRequest;
import io.rdma4j.spi.Refusal;
import io.rdma4j.testkit.FlightRecording;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.QueuePairType;
import io.rdma4j.verbs.RdmaException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Objects;
import java.util.function.Consumer;

import static org.assertj.core.api.Assertions.assertThat;

/** What a recording of Java Flight Recorder holds of look-ups of datagram services, in virtual time. */
class ServiceLookupEventsTest {
    private static final int SERVICE_PORT = 7174;

    private final FlightRecording recording = new FlightRecording();

    @TempDir
    private Path directory;

    @AfterEach
    void end() {
        recording.close();
    }

    /** A look-up by a that b receives. */
    private static final class Lookup implements CmLookup.Handler {
        final Simulation simulation = new Simulation(1);
        private boolean isOver;

        Lookup() throws Exception {}

        private static CmDatagrams datagrams(Simulation.Node node) {
            return Objects.requireNonNull(node.context.datagramServices());
        }

        void listen(Consumer<CmLookupRequest> answer) throws RdmaException {
            CmListener listener = datagrams(simulation.b)
                    .listen(new ListenRequest(PortSpace.UDP, QueuePairType.UD, SERVICE_PORT, null,
                            null, null, 1, null),
                            (via, request, local, peer, privateData) -> answer.accept(request));
            assertThat(listener).isNotNull();
        }

        void run() throws RdmaException {
            CmLookup asking = datagrams(simulation.a).lookUp(new ConnectRequest(
                    PortSpace.UDP, QueuePairType.UD,
                    new InetSocketAddress(simulation.a.address, 4000), null,
                    new InetSocketAddress(simulation.b.address, SERVICE_PORT),
                    new ConnectionParameters(), 5, CmOptions.DEFAULT), this);
            assertThat(simulation.run(() -> isOver, Duration.ofMinutes(10).toNanos())).isTrue();
            asking.close();
        }

        @Override
        public void onService(DatagramParameters service) {
            isOver = true;
        }

        @Override
        public void onRefused(Refusal refusal) {
            isOver = true;
        }

        @Override
        public void onUnreachable(Errno reason) {
            isOver = true;
        }
    }

    private void assertLookups(String... expected) throws Exception {
        assertThat(recording.events(directory, "ServiceLookup", "outcome", "side", "local",
                "remote", "queuePair",
                "status")).containsExactly(expected);
    }

    @Test
    void lookUpThatFindsTheService() throws Exception {
        Lookup lookup = new Lookup();
        lookup.listen(request -> attempt(
                () -> request.accept(77, 0x1111, new byte[0])));
        lookup.run();
        assertLookups("FOUND peer 127.0.0.2 port 7174 127.0.0.1 port 4000 77 0",
                "FOUND this 127.0.0.1 port 4000 127.0.0.2 port 7174 77 0");
    }

    @Test
    void lookUpThatTheServiceRefuses() throws Exception {
        Lookup lookup = new Lookup();
        lookup.listen(request -> attempt(
                () -> request.reject(new byte[0])));
        lookup.run();
        assertLookups("REFUSED peer 127.0.0.2 port 7174 127.0.0.1 port 4000 0 2",
                "REFUSED this 127.0.0.1 port 4000 127.0.0.2 port 7174 0 2");
    }

    @Test
    void lookUpThatIsClosedUnanswered() throws Exception {
        Lookup lookup = new Lookup();
        lookup.listen(request -> {
            request.close();
            request.close();
        });
        lookup.run();
        assertLookups("REFUSED peer 127.0.0.2 port 7174 127.0.0.1 port 4000 0 2",
                "REFUSED this 127.0.0.1 port 4000 127.0.0.2 port 7174 0 2");
    }

    @Test
    void lookUpOfAServiceThatNobodyOffers() throws Exception {
        new Lookup().run();
        assertLookups("REFUSED this 127.0.0.1 port 4000 127.0.0.2 port 7174 0 1");
    }

    @Test
    void lookUpThatNobodyAnswers() throws Exception {
        Lookup lookup = new Lookup();
        lookup.simulation.network.loseIf(packet -> true);
        lookup.run();
        assertLookups("UNREACHABLE this 127.0.0.1 port 4000 127.0.0.2 port 7174 0 0");
    }

    private interface Action {
        void run() throws RdmaException;
    }

    private static void attempt(Action action) {
        try {
            action.run();
        } catch (RdmaException e) {
            throw new AssertionError(e);
        }
    }
}
