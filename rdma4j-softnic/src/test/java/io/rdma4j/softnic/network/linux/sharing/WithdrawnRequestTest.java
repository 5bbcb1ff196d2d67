// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.network.linux.sharing;

import io.rdma4j.connection.ConnectionParameters;
import io.rdma4j.connection.PortSpace;
import io.rdma4j.connection.RejectReason;
import io.rdma4j.protocol.count.Counter;
import io.rdma4j.protocol.ibcm.CmSettings;
import io.rdma4j.softnic.device.PortView;
import io.rdma4j.softnic.device.SoftDevice;
import io.rdma4j.softnic.device.SoftNic;
import io.rdma4j.softnic.network.linux.datagram.LinuxNetwork;
import io.rdma4j.softnic.roce.RoceFamily;
import io.rdma4j.softnic.roce.RoceTransport;
import io.rdma4j.softnic.verbs.SoftDeviceContext;
import io.rdma4j.spi.CmConnection;
import io.rdma4j.spi.CmListener;
import io.rdma4j.spi.CmOptions;
import io.rdma4j.spi.ConnectRequest;
import io.rdma4j.spi.ListenRequest;
import io.rdma4j.spi.Refusal;
import io.rdma4j.testkit.Wait;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.QueuePairType;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Requests at an address of several processes, each with a device and a share of the port of its own, when a message of the
 * requester does not tell which of them has the request: a withdrawal, and a repetition after the listener was closed.
 */
@EnabledOnOs(OS.LINUX)
@Timeout(60)
class WithdrawnRequestTest {
    private static final long PID = ProcessHandle.current().pid();
    private static final InetAddress ADDRESS = InetAddress
            .ofLiteral("127.44." + (PID >>> 7 & 0xff) + "." + (1 + (PID & 0x7f)));
    private static final InetAddress ELSEWHERE = InetAddress
            .ofLiteral("127.43." + (PID >>> 7 & 0xff) + "." + (1 + (PID & 0x7f)));
    private static final int PORT = 7471;
    private static final int TIMES = 25;

    private static final AtomicInteger TESTS = new AtomicInteger();

    /** Where the processes of this test meet. */
    private final String name = "rdma4j-test-withdrawn-" + ProcessHandle.current().pid() + "-"
            + TESTS.incrementAndGet();
    private final List<Member> processes = new ArrayList<>();

    @AfterEach
    void everythingIsClosed() {
        List.copyOf(processes).forEach(Member::close);
    }

    /** A device, as another process would have it. */
    private final class Member {
        private final SharedPort port;
        private final SoftNic nic;
        private final SoftDeviceContext context;
        private final InetAddress address;
        final List<Asked> asked = new CopyOnWriteArrayList<>();
        /** Another one for each request: a withdrawal that is passed on may arrive after the next request. */
        private int queuePair = 4;

        Member(InetAddress address) throws Exception {
            this.address = address;
            port = SharedPort.open(name);
            NetworkInterface loopback = Objects.requireNonNull(
                    NetworkInterface.getByInetAddress(InetAddress.getLoopbackAddress()));
            SoftDevice device = new SoftDevice(RoceFamily.ROCE, loopback, true,
                    () -> new PortView(true, true, List.of(address)));
            nic = new SoftNic(device,
                    RoceTransport.on(
                            new LinuxNetwork(loopback, port, LinuxNetwork.SharedMemoryUse.NEVER),
                            CmSettings.defaults(1)),
                    new Random()::nextInt, System::nanoTime, "rdma4j-test");
            nic.start(address);
            context = SoftNic.contextOf(nic);
            processes.add(this);
        }

        CmListener listen(int at) throws Exception {
            return context.listen(new ListenRequest(PortSpace.TCP, QueuePairType.RC, at, null,
                    address, null, 2 * TIMES, null), (via, request, local, peer, parameters) -> {
                        Asked one = new Asked(request);
                        asked.add(one);
                        return one;
                    });
        }

        CmConnection ask(CmConnection.Handler handler) throws Exception {
            return context.connect(new ConnectRequest(PortSpace.TCP, QueuePairType.RC,
                    new InetSocketAddress(address, 0), null, new InetSocketAddress(ADDRESS, PORT),
                    new ConnectionParameters(), ++queuePair, CmOptions.DEFAULT), handler);
        }

        void close() {
            processes.remove(this);
            nic.shutDown();
            port.close();
        }
    }

    /** Collects what happens to a connection. */
    private static class Heard implements CmConnection.Handler {
        final List<String> words = new CopyOnWriteArrayList<>();

        @Override
        public void onReply(CmConnection of, ConnectionParameters parameters) {
            words.add("reply");
        }

        @Override
        public void onEstablished(@Nullable ConnectionParameters parameters) {
            words.add("established");
        }

        @Override
        public void onRefused(Refusal refusal) {
            words.add("refused " + refusal.code());
        }

        @Override
        public void onUnreachable(Errno reason) {
            words.add("unreachable");
        }

        @Override
        public void onDisconnected() {
            words.add("disconnected");
        }

        @Override
        public void onTimewaitExit() {}
    }

    /** A request that the application has not answered. */
    private static final class Asked extends Heard {
        final CmConnection request;

        Asked(CmConnection request) {
            this.request = request;
        }
    }

    private static void withdrawAll(Member client, Member server) throws Exception {
        int before = server.asked.size();
        for (int i = 1; i <= TIMES; i++) {
            CmConnection asking = client.ask(new Heard());
            int expected = before + i;
            Wait.until("the request is there", () -> server.asked.size() == expected);
            asking.close();
        }
        String withdrawn = "refused " + RejectReason.TIMEOUT.code();
        Wait.until("each withdrawal is heard",
                () -> server.asked.stream().allMatch(each -> each.words.contains(withdrawn)));
        for (Asked each : server.asked) {
            assertThat(each.words).containsExactly(withdrawn);
        }
        assertThat(server.asked).hasSize(before + TIMES);
    }

    @Test
    void withdrawalsAreHeardIfAnotherProcessWasFirst() throws Exception {
        new Member(ADDRESS);
        Member server = new Member(ADDRESS);
        server.listen(PORT);
        withdrawAll(new Member(ELSEWHERE), server);
    }

    @Test
    void withdrawalsAreHeardIfTheClientIsAtTheSameAddress() throws Exception {
        Member client = new Member(ADDRESS);
        Member server = new Member(ADDRESS);
        server.listen(PORT);
        withdrawAll(client, server);
    }

    /** The sender's identifier does not tell which of them has the request: they pass it on to each other. */
    @Test
    void withdrawalsAreHeardIfSeveralProcessesListen() throws Exception {
        new Member(ADDRESS);
        for (int i = 1; i < 4; i++) {
            new Member(ADDRESS).listen(PORT + i);
        }
        Member server = new Member(ADDRESS);
        server.listen(PORT);
        withdrawAll(new Member(ELSEWHERE), server);
    }

    @Test
    void withdrawalsAreHeardAfterTheListenerWasClosed() throws Exception {
        new Member(ADDRESS);
        Member server = new Member(ADDRESS);
        CmListener listener = server.listen(PORT);
        Member client = new Member(ELSEWHERE);
        CmConnection asking = client.ask(new Heard());
        Wait.until("the request is there", () -> server.asked.size() == 1);
        listener.close();
        asking.close();
        Wait.until("the withdrawal is heard", () -> !server.asked.getFirst().words.isEmpty());
    }

    /** It reads nothing. */
    @Test
    void theFirstProcessMayBeStopped() throws Exception {
        SharedPort first = SharedPort.open(name);
        LinuxNetwork unread = new LinuxNetwork(Objects.requireNonNull(
                NetworkInterface.getByInetAddress(InetAddress.getLoopbackAddress())), first,
                LinuxNetwork.SharedMemoryUse.NEVER);
        try {
            unread.open(ADDRESS);
            Member server = new Member(ADDRESS);
            server.listen(PORT);
            withdrawAll(new Member(ELSEWHERE), server);
        } finally {
            unread.close();
            first.close();
        }
    }

    /** On a loopback address a request without an answer is repeated after a quarter of a second. */
    @Test
    void aRequestIsNotRefusedByOthersWhenItsListenerIsClosed() throws Exception {
        new Member(ADDRESS);
        Member server = new Member(ADDRESS);
        CmListener listener = server.listen(PORT);
        Heard client = new Heard();
        CmConnection asking = new Member(ELSEWHERE).ask(client);
        Wait.until("the request is there", () -> server.asked.size() == 1);
        listener.close();

        Wait.until("the request was repeated, which is answered by a sign of life",
                () -> sent(server) >= 1);
        assertThat(client.words).isEmpty();
        assertThat(server.asked).hasSize(1);
        asking.close();
    }

    private static long sent(Member process) {
        return process.nic.engine().counters().value(Counter.SENT_PKTS);
    }

    /** A new listener has precedence over one that is closed. */
    @Test
    void newRequestsGoToTheProcessThatListens() throws Exception {
        new Member(ADDRESS);
        Member before = new Member(ADDRESS);
        CmListener listener = before.listen(PORT);
        Member client = new Member(ELSEWHERE);
        CmConnection first = client.ask(new Heard());
        Wait.until("the request is there", () -> before.asked.size() == 1);
        listener.close();
        Member after = new Member(ADDRESS);
        after.listen(PORT);
        CmConnection second = client.ask(new Heard());
        Wait.until("the request is there", () -> after.asked.size() == 1);
        assertThat(before.asked).hasSize(1);
        second.close();
        first.close();
    }

    /** Nothing of it stays in the table, which has room for a limited number. */
    @Test
    void aClosedListenerLeavesTheTableWithItsLastRequest() throws Exception {
        new Member(ADDRESS);
        Member server = new Member(ADDRESS);
        CmListener listener = server.listen(PORT);
        CmConnection asking = new Member(ELSEWHERE).ask(new Heard());
        Wait.until("the request is there", () -> server.asked.size() == 1);
        listener.close();
        try (TableSocket looking = TableSocket.join(name)) {
            SharedTable table = new SharedTable(looking.pages().map(0, SharedTable.LENGTH));
            assertThat(table.services()).hasSize(1);
            server.asked.getFirst().request.close();
            Wait.until("it has left", () -> table.services().isEmpty());
        }
        asking.close();
    }
}
