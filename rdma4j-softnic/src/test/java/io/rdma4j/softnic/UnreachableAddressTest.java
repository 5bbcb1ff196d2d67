// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic;

import io.rdma4j.cm.CmEvent;
import io.rdma4j.cm.CmEventType;
import io.rdma4j.cm.CmId;
import io.rdma4j.connection.ConnectionParameters;
import io.rdma4j.connection.PortSpace;
import io.rdma4j.protocol.roce.wire.Path;
import io.rdma4j.verbs.Errno;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.time.Duration;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import static org.assertj.core.api.Assertions.assertThat;

/** Connecting to addresses of this machine without a process, or with one that does not answer. */
class UnreachableAddressTest extends CmStage {
    /** All retries take seventeen seconds. */
    private static final Duration SOON = Duration.ofSeconds(4);
    private static final InetSocketAddress NOBODY = new InetSocketAddress(
            InetAddress.ofLiteral(OTHER), 7471);

    /** Without a device that is asked for, another one is taken where the holder of the port shares it with nobody. */
    @BeforeEach
    void haveAnAddress() throws Exception {
        System.setProperty("rdma4j.device", "roce_lo");
        id(PortSpace.TCP).bindAddress(anyPort(OWN));
    }

    @AfterEach
    void askForNoDevice() {
        System.clearProperty("rdma4j.device");
    }

    private CmId calling(PortSpace space) throws Exception {
        CmId id = id(space);
        resolve(id, NOBODY);
        if (space == PortSpace.TCP) {
            id.createQueuePair(reliable());
        }
        id.connect(new ConnectionParameters());
        return id;
    }

    /** {@return the sockets that the system lists for the port, which should have none} */
    private static String holdersOfThePort() {
        String port = String.format(":%04X ", Path.UDP_PORT);
        try (Stream<String> sockets = Files.lines(java.nio.file.Path.of("/proc/self/net/udp"))) {
            return sockets.filter(line -> line.contains(port))
                    .collect(Collectors.joining("\n", "sockets at " + NOBODY + ":\n", "\n"));
        } catch (IOException notLinux) {
            return "an event for " + NOBODY;
        }
    }

    private void assertUnreachableSoon(CmId id) throws Exception {
        try (CmEvent event = events.pollEvent(SOON)) {
            assertThat(event).as(UnreachableAddressTest::holdersOfThePort).isNotNull();
            assertThat(event.id()).isSameAs(id);
            assertThat(event.type()).isEqualTo(CmEventType.UNREACHABLE);
            assertThat(event.status()).isEqualTo(-Errno.ECONNREFUSED.number());
        }
    }

    @Test
    void connectionWhereNobodyIsFailsSoon() throws Exception {
        assertUnreachableSoon(calling(PortSpace.TCP));
    }

    @Test
    void lookUpWhereNobodyIsFailsSoon() throws Exception {
        assertUnreachableSoon(calling(PortSpace.UDP));
    }

    @Test
    void synchronousConnectWhereNobodyIsFailsSoon() throws Exception {
        CmId id = closedAtEnd(CmId.create(PortSpace.TCP));
        id.resolveAddress(NOBODY, TIMEOUT);
        id.resolveRoute(TIMEOUT);
        id.createQueuePair(reliable());
        long startNs = System.nanoTime();
        assertRefused(() -> id.connect(new ConnectionParameters()), Errno.ECONNREFUSED);
        assertThat(System.nanoTime() - startNs).isLessThan(SOON.toNanos());
    }

    @Test
    void whoIsThereAndSaysNothingIsWaitedFor() throws Exception {
        try (DatagramSocket silent = new DatagramSocket(
                new InetSocketAddress(NOBODY.getAddress(), Path.UDP_PORT))) {
            assertThat(silent.isBound()).isTrue();
            calling(PortSpace.TCP);
            assertThat(events.pollEvent(Duration.ofSeconds(2))).isNull();
        }
        // It has gone: that shows, too.
        try (CmEvent event = events.pollEvent(SOON)) {
            assertThat(event).as(UnreachableAddressTest::holdersOfThePort).isNotNull();
            assertThat(event.type()).isEqualTo(CmEventType.UNREACHABLE);
        }
    }
}
