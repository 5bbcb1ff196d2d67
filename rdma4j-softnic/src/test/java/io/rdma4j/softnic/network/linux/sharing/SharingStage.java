// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.network.linux.sharing;

import io.rdma4j.protocol.roce.wire.Path;
import io.rdma4j.softnic.network.linux.calls.LinuxSocket;
import io.rdma4j.softnic.network.linux.calls.MessageHeader;
import io.rdma4j.softnic.network.linux.calls.SocketAddress;
import io.rdma4j.verbs.Gid;
import io.rdma4j.verbs.RdmaException;
import org.junit.jupiter.api.AfterEach;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;

import static io.rdma4j.softnic.network.linux.calls.SocketOption.SOL_SOCKET;
import static io.rdma4j.softnic.network.linux.calls.SocketOption.SO_REUSEPORT;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.assertj.core.api.Assertions.assertThat;

/** Sockets that share the port of one address, each with a table of its own as another process would have it. */
abstract class SharingStage {
    static final long PID = ProcessHandle.current().pid();
    /** No other build on this machine takes it. */
    static final InetAddress ADDRESS = InetAddress
            .ofLiteral("127.45." + (PID >>> 7 & 0xff) + "." + (1 + (PID & 0x7f)));
    /** What the addresses begin with that a test has for itself. */
    static final String NETWORK = "127." + (46 + (PID & 0x7f)) + ".";
    private static final AtomicInteger STAGES = new AtomicInteger();
    /** The thread that answers for all members may have to wait for a processor. */
    private static final long ANSWER_TIMEOUT_NS = 500_000_000;

    /** Where the processes of this test meet. */
    final String name = "rdma4j-test-" + PID + "-" + STAGES.incrementAndGet();
    /** What a process has that only looks: the table stays when all members have ended. */
    final TableSocket looking = look();
    final List<Member> members = new CopyOnWriteArrayList<>();
    final Arena memory = Arena.ofShared();

    private TableSocket look() {
        try {
            return TableSocket.join(name);
        } catch (LinuxSocket.Refused | RdmaException e) {
            throw new AssertionError(e);
        }
    }

    @AfterEach
    void everythingIsClosed() throws Exception {
        for (Member member : List.copyOf(members)) {
            member.leave();
        }
        looking.close();
        memory.close();
    }

    /** What a process has of the port. */
    final class Member {
        final SharedPort port;
        final LinuxSocket socket;
        private final Gid address;
        private final int scope;
        private final List<Integer> queuePairs = new ArrayList<>();
        private final MemorySegment header = memory.allocate(MessageHeader.LENGTH, 8);
        private final MemorySegment bytes = memory.allocate(4096, 8);
        private final MemorySegment iovec = memory.allocate(MessageHeader.IOVEC_LENGTH, 8);
        private final MemorySegment local = memory.allocate(SocketAddress.MAX_LENGTH, 8);

        Member() throws Exception {
            this(ADDRESS, 0);
        }

        /** @param scope the interface of an address of the link, else 0 */
        Member(InetAddress address, int scope) throws Exception {
            this(SharingStage.this.name, address, scope);
        }

        /** @param where the processes meet that it shares with */
        Member(String where, InetAddress address, int scope) throws Exception {
            this.address = Gid.of(address);
            this.scope = scope;
            port = SharedPort.open(where, ANSWER_TIMEOUT_NS);
            socket = LinuxSocket.open(SocketAddress.family(this.address), memory);
            MessageHeader.name(header, MemorySegment.NULL);
            MessageHeader.iovecs(header, iovec, 1);
            MessageHeader.iovec(iovec, 0, bytes.address(), bytes.byteSize());
            try {
                port.join(this.address, scope, socket, this::bind);
            } catch (RdmaException e) {
                die();
                throw e;
            }
            members.add(this);
        }

        void bind(LinuxSocket unbound) throws LinuxSocket.Refused {
            unbound.set(SOL_SOCKET, SO_REUSEPORT, 1);
            unbound.bind(local, SocketAddress.write(local, address, Path.UDP_PORT, scope));
        }

        /** {@return the queue pairs that packets received since the last call are for} */
        synchronized List<Integer> received() {
            receive();
            List<Integer> taken = List.copyOf(queuePairs);
            queuePairs.clear();
            return taken;
        }

        /** Takes what has arrived, and answers probes. */
        synchronized void receive() {
            long length = socket.receive(header);
            while (length >= 0) {
                if (ReuseportProbe.is(bytes, 0, (int) length)) {
                    port.onProbe(ReuseportProbe.place(bytes, 0), ReuseportProbe.nonce(bytes, 0));
                } else {
                    queuePairs.add(ByteBuffer.wrap(bytes.asSlice(4, 4).toArray(JAVA_BYTE))
                            .getInt());
                }
                length = socket.receive(header);
            }
        }

        private InetAddress address() throws Exception {
            return scope == 0
                    ? address.address()
                    : Inet6Address.getByAddress(null, address.address().getAddress(), scope);
        }

        int queuePair() {
            return port.prefix() << 16 | 0x1111;
        }

        void leave() throws Exception {
            port.leave(socket);
            port.close();
            members.remove(this);
        }

        /** The system closes its socket and releases its locks, without a message to other processes. */
        synchronized void die() {
            socket.close();
            port.close();
            members.remove(this);
        }
    }

    /** Sends each member a packet. */
    private void sendToAll() throws Exception {
        try (DatagramSocket out = new DatagramSocket()) {
            for (Member member : members) {
                byte[] packet = ByteBuffer.allocate(64).putInt(4, member.queuePair()).array();
                out.send(
                        new DatagramPacket(packet, packet.length, member.address(), Path.UDP_PORT));
            }
        }
    }

    void assertEachGetsItsOwn() throws Exception {
        sendToAll();
        for (Member member : members) {
            assertThat(member.received()).containsExactly(member.queuePair());
        }
    }

    /** Runs something while all the others receive, as processes do. */
    void whileAllReceive(Action action) throws Exception {
        Thread receiving = Thread.ofPlatform().start(() -> {
            while (!Thread.currentThread().isInterrupted()) {
                members.forEach(Member::receive);
            }
        });
        try {
            action.run();
        } finally {
            receiving.interrupt();
            receiving.join();
        }
    }

    /** What may fail. */
    interface Action {
        void run() throws Exception;
    }

    /** {@return a socket that is in no table} */
    LinuxSocket stranger() throws Exception {
        LinuxSocket stranger = LinuxSocket.open(SocketAddress.AF_INET, memory);
        stranger.set(SOL_SOCKET, SO_REUSEPORT, 1);
        MemorySegment local = memory.allocate(SocketAddress.MAX_LENGTH, 8);
        stranger.bind(local, SocketAddress.write(local, Gid.of(ADDRESS), Path.UDP_PORT, 0));
        return stranger;
    }

    /** {@return the table, as yet another process would have it} */
    SharedTable table() throws Exception {
        return new SharedTable(looking.pages().map(0, SharedTable.LENGTH));
    }
}
