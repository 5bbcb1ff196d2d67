// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.SocketOption;
import java.net.StandardProtocolFamily;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.DatagramChannel;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Every method of a datagram channel in every state it can have, blocking and not, and threads that wait in one: channels over RDMA return and
 * throw what those over UDP do.
 */
class DatagramContractTest {
    /** Over what datagrams go. */
    private enum Way {
        UDP, RDMA;

        DatagramChannel open() throws IOException {
            return this == UDP
                    ? DatagramChannel.open(StandardProtocolFamily.INET)
                    : RdmaSockets.openDatagramChannel(StandardProtocolFamily.INET)
                            .setOption(RdmaSocketOptions.RDMA_DEVICE, "roce_lo");
        }

        DatagramChannel bound() throws IOException {
            return open().bind(Transport.loopback(0));
        }
    }

    /** A channel in a state, and a peer that is bound. */
    private interface State {
        DatagramChannel channel(Way way, DatagramChannel peer) throws IOException;
    }

    /** What is done with it, and what can be seen of that. */
    private interface Method {
        @Nullable
        Object call(DatagramChannel channel, SocketAddress peer) throws IOException;
    }

    /** An address of no kind that channels know. */
    private static final class OtherAddress extends SocketAddress {
        private static final long serialVersionUID = 1;
    }

    /** An option of no channel. */
    private record OtherOption(String name, Class<Integer> type) implements SocketOption<Integer> {}

    private static final InetSocketAddress NAME = InetSocketAddress
            .createUnresolved("nowhere.invalid", 1);
    private static final Map<String, State> STATES = new LinkedHashMap<>();
    private static final Map<String, Method> METHODS = new LinkedHashMap<>();
    /** Those that wait for a datagram if none is there. */
    private static final Map<String, Method> RECEIVING = new LinkedHashMap<>();

    static {
        STATES.put("new", (way, peer) -> way.open());
        STATES.put("bound", (way, peer) -> way.bound());
        STATES.put("connected", (way, peer) -> way.open().connect(peer.getLocalAddress()));
        STATES.put("bound and connected",
                (way, peer) -> way.bound().connect(peer.getLocalAddress()));
        STATES.put("disconnected",
                (way, peer) -> way.bound().connect(peer.getLocalAddress()).disconnect());
        STATES.put("closed", (way, peer) -> closed(way.open()));
        STATES.put("closed, once connected",
                (way, peer) -> closed(way.open().connect(peer.getLocalAddress())));

        METHODS.put("send", (channel, peer) -> {
            ByteBuffer buffer = ByteBuffer.allocate(10).position(2);
            return channel.send(buffer, peer) + " " + buffer.remaining();
        });
        METHODS.put("send of nothing",
                (channel, peer) -> channel.send(ByteBuffer.allocate(0), peer));
        METHODS.put("send of a read-only buffer",
                (channel, peer) -> channel.send(ByteBuffer.allocateDirect(3).asReadOnlyBuffer(),
                        peer));
        METHODS.put("send of null", (channel, peer) -> channel.send(null, peer));
        METHODS.put("send to null", (channel, peer) -> channel.send(ByteBuffer.allocate(1), null));
        METHODS.put("send to a name",
                (channel, peer) -> channel.send(ByteBuffer.allocate(1), NAME));
        METHODS.put("send to an address of another kind",
                (channel, peer) -> channel.send(ByteBuffer.allocate(1), new OtherAddress()));
        METHODS.put("send to IPv6", (channel, peer) -> channel.send(ByteBuffer.allocate(1),
                new InetSocketAddress(InetAddress.ofLiteral("::1"), 9)));
        METHODS.put("send to another", (channel, peer) -> channel.send(ByteBuffer.allocate(1),
                new InetSocketAddress(InetAddress.ofLiteral("127.0.0.2"), 9)));
        METHODS.put("send to port 0", (channel, peer) -> channel.send(ByteBuffer.allocate(1),
                Transport.loopback(0)));
        METHODS.put("send of too much", (channel, peer) -> {
            try {
                return channel.send(ByteBuffer.allocate(70_000), peer);
            } catch (IOException e) {
                // Of two classes, as a channel over UDP is connected or not.
                return channel.isOpen() && String.valueOf(e.getMessage())
                        .startsWith("Message too long");
            }
        });
        METHODS.put("write", (channel, peer) -> channel.write(ByteBuffer.allocate(7)));
        METHODS.put("write of null", (channel, peer) -> channel.write((ByteBuffer) null));
        METHODS.put("gathering write", (channel, peer) -> {
            ByteBuffer[] buffers = {ByteBuffer.allocate(2), ByteBuffer.allocate(0),
                ByteBuffer.allocateDirect(100), ByteBuffer.allocate(1)};
            return channel.write(buffers, 0, 3) + " " + buffers[2].remaining() + " "
                    + buffers[3].remaining();
        });
        METHODS.put("gathering write of a buffer twice", (channel, peer) -> {
            ByteBuffer twice = ByteBuffer.allocate(2).position(1);
            return channel.write(new ByteBuffer[]{twice, ByteBuffer.allocate(3), twice}) + " "
                    + twice.position();
        });
        METHODS.put("gathering write outside of the array",
                (channel, peer) -> channel.write(new ByteBuffer[1], -1, 1));
        METHODS.put("receive into a read-only buffer",
                (channel, peer) -> channel.receive(ByteBuffer.allocate(5).asReadOnlyBuffer()));
        METHODS.put("receive into null", (channel, peer) -> channel.receive(null));
        METHODS.put("read into nothing", (channel, peer) -> channel.read(ByteBuffer.allocate(0)));
        METHODS.put("scattering read into nothing",
                (channel, peer) -> channel.read(new ByteBuffer[]{ByteBuffer.allocate(0)}));
        METHODS.put("read into null", (channel, peer) -> channel.read((ByteBuffer) null));
        METHODS.put("scattering read outside of the array",
                (channel, peer) -> channel.read(new ByteBuffer[1], 1, 1));
        METHODS.put("bind", (channel, peer) -> channel.bind(null).equals(channel));
        METHODS.put("bind to an address of another kind",
                (channel, peer) -> channel.bind(new OtherAddress()));
        METHODS.put("bind to a name", (channel, peer) -> channel.bind(NAME));
        METHODS.put("bind to a port in use", (channel, peer) -> channel.bind(peer));
        METHODS.put("connect", (channel, peer) -> channel.connect(peer).isConnected());
        METHODS.put("connect to null", (channel, peer) -> channel.connect(null));
        METHODS.put("connect to a name", (channel, peer) -> channel.connect(NAME));
        METHODS.put("connect to an address of another kind",
                (channel, peer) -> channel.connect(new OtherAddress()));
        METHODS.put("connect to port 0",
                (channel, peer) -> channel.connect(Transport.loopback(0)));
        METHODS.put("disconnect", (channel, peer) -> channel.disconnect().isConnected());
        METHODS.put("isConnected", (channel, peer) -> channel.isConnected());
        METHODS.put("isOpen", (channel, peer) -> channel.isOpen());
        METHODS.put("isRegistered", (channel, peer) -> channel.isRegistered());
        METHODS.put("validOps", (channel, peer) -> channel.validOps());
        METHODS.put("remote address",
                (channel, peer) -> Objects.equals(channel.getRemoteAddress(), peer));
        METHODS.put("local address", (channel, peer) -> address(channel.getLocalAddress()));
        METHODS.put("local address after connecting", (channel, peer) -> address(
                channel.connect(peer).getLocalAddress()));
        METHODS.put("local address after disconnecting", (channel, peer) -> channel.disconnect()
                .getLocalAddress() == null);
        METHODS.put("setOption", (channel, peer) -> channel
                .setOption(StandardSocketOptions.SO_REUSEADDR, true)
                .setOption(StandardSocketOptions.SO_BROADCAST, true)
                .setOption(StandardSocketOptions.IP_TOS, 16)
                .getOption(StandardSocketOptions.IP_TOS) + " "
                + channel.getOption(StandardSocketOptions.SO_BROADCAST));
        METHODS.put("initial options", (channel, peer) -> channel
                .getOption(StandardSocketOptions.SO_REUSEADDR) + " "
                + channel.getOption(StandardSocketOptions.IP_TOS) + " "
                + (channel.getOption(StandardSocketOptions.SO_SNDBUF) > 0));
        METHODS.put("null option", (channel, peer) -> channel.setOption(null, null));
        METHODS.put("null value",
                (channel, peer) -> channel.setOption(StandardSocketOptions.SO_SNDBUF, null));
        METHODS.put("negative size",
                (channel, peer) -> channel.setOption(StandardSocketOptions.SO_SNDBUF, -1));
        METHODS.put("option of streams", (channel, peer) -> channel
                .setOption(StandardSocketOptions.TCP_NODELAY, true));
        METHODS.put("option of nobody", (channel, peer) -> channel
                .getOption(new OtherOption("other", Integer.class)));
        METHODS.put("value of a null option", (channel, peer) -> channel.getOption(null));
        METHODS.put("close", (channel, peer) -> {
            channel.close();
            channel.close();
            return channel.isOpen() + " " + channel.isConnected();
        });
        METHODS.put("configureBlocking",
                (channel, peer) -> channel.configureBlocking(true).isBlocking());

        RECEIVING.put("receive", (channel, peer) -> {
            ByteBuffer buffer = ByteBuffer.allocate(5);
            return peer.equals(channel.receive(buffer)) + " " + buffer;
        });
        RECEIVING.put("receive without room", (channel, peer) -> {
            ByteBuffer buffer = ByteBuffer.allocateDirect(5).limit(2);
            return peer.equals(channel.receive(buffer)) + " " + buffer;
        });
        RECEIVING.put("receive into nothing",
                (channel, peer) -> peer.equals(channel.receive(ByteBuffer.allocate(0))));
        RECEIVING.put("read", (channel, peer) -> channel.read(ByteBuffer.allocate(5)));
        RECEIVING.put("read into nothing, and then of what was there",
                (channel, peer) -> channel.read(ByteBuffer.allocate(0)) + " "
                        + channel.read(ByteBuffer.allocate(5)));
        RECEIVING.put("scattering read into nothing, and then of what was there",
                (channel, peer) -> channel
                        .read(new ByteBuffer[]{ByteBuffer.allocate(0), ByteBuffer.allocate(0)})
                        + " " + channel.read(ByteBuffer.allocate(5)));
        RECEIVING.put("read into a read-only buffer",
                (channel, peer) -> channel.read(ByteBuffer.allocate(5).asReadOnlyBuffer()));
        RECEIVING.put("scattering read", (channel, peer) -> {
            ByteBuffer[] buffers = {ByteBuffer.allocate(0), ByteBuffer.allocateDirect(1),
                ByteBuffer.allocate(9), ByteBuffer.allocate(9)};
            long count = channel.read(buffers, 0, 3);
            return count + " " + buffers[1].position() + " " + buffers[2].position() + " "
                    + buffers[3].position();
        });
        RECEIVING.put("scattering read into a buffer twice", (channel, peer) -> {
            // The JDK's channels fail with one of the heap, after they have read.
            ByteBuffer twice = ByteBuffer.allocateDirect(1);
            return channel.read(new ByteBuffer[]{twice, twice}) + " " + twice.position() + " "
                    + twice.get(0);
        });
    }

    private static final List<AutoCloseable> OPEN = new ArrayList<>();

    private static String address(@Nullable SocketAddress address) {
        return address instanceof InetSocketAddress internet
                ? internet.getAddress() + " " + (internet.getPort() > 0)
                : "none";
    }

    private static DatagramChannel closed(DatagramChannel channel) throws IOException {
        channel.close();
        return channel;
    }

    @AfterEach
    void close() throws Exception {
        for (AutoCloseable each : OPEN) {
            each.close();
        }
        OPEN.clear();
    }

    @Test
    void channelsDoWhatThoseOverUdpDo() throws IOException {
        assertSame(seen(Way.RDMA), seen(Way.UDP));
    }

    @Test
    void channelsReceiveWhatThoseOverUdpDo() throws IOException {
        assertSame(received(Way.RDMA), received(Way.UDP));
    }

    private static void assertSame(List<String> ours, List<String> theirs) {
        List<String> different = new ArrayList<>();
        for (int i = 0; i < theirs.size(); i++) {
            if (!ours.get(i).equals(theirs.get(i))) {
                different.add(ours.get(i) + "; UDP: " + theirs.get(i));
            }
        }
        assertThat(different).isEmpty();
        assertThat(ours).hasSameSizeAs(theirs);
    }

    private static List<String> seen(Way way) throws IOException {
        List<String> seen = new ArrayList<>();
        try (DatagramChannel peer = way.bound()) {
            for (boolean isBlocking : new boolean[]{true, false}) {
                for (Map.Entry<String, State> state : STATES.entrySet()) {
                    for (Map.Entry<String, Method> method : METHODS.entrySet()) {
                        DatagramChannel channel = state.getValue().channel(way, peer);
                        OPEN.add(channel);
                        seen.add(name(isBlocking, state, method)
                                + outcome(channel, isBlocking, method.getValue(), peer));
                    }
                }
            }
        }
        return seen;
    }

    /** Of channels that have datagrams, and of such that have none and do not wait. */
    private static List<String> received(Way way) throws IOException {
        List<String> seen = new ArrayList<>();
        try (DatagramChannel peer = way.bound()) {
            for (Map.Entry<String, State> state : STATES.entrySet()) {
                for (Map.Entry<String, Method> method : RECEIVING.entrySet()) {
                    DatagramChannel empty = state.getValue().channel(way, peer);
                    OPEN.add(empty);
                    seen.add("none, " + name(false, state, method)
                            + outcome(empty, false, method.getValue(), peer));
                    DatagramChannel channel = state.getValue().channel(way, peer);
                    OPEN.add(channel);
                    if (channel.isOpen() && channel.getLocalAddress() != null) {
                        peer.send(ByteBuffer.allocate(4), channel.getLocalAddress());
                        seen.add(name(true, state, method)
                                + outcome(channel, true, method.getValue(), peer));
                    }
                }
            }
        }
        return seen;
    }

    private static String name(boolean isBlocking, Map.Entry<String, State> state,
            Map.Entry<String, Method> method) {
        return (isBlocking ? "blocking, " : "") + state.getKey() + ", " + method.getKey() + ": ";
    }

    private static String outcome(DatagramChannel channel, boolean isBlocking, Method method,
            DatagramChannel peer) throws IOException {
        SocketAddress to = Objects.requireNonNull(peer.getLocalAddress());
        if (channel.isOpen()) {
            channel.configureBlocking(isBlocking);
        }
        try {
            return String.valueOf(method.call(channel, to));
        } catch (IOException | RuntimeException e) {
            return e.getClass().getName() + (channel.isOpen() ? "" : ", closed");
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void waitsEndAsOverUdp(boolean isVirtual) throws Exception {
        assertThat(waits(Way.RDMA, isVirtual)).isEqualTo(waits(Way.UDP, isVirtual));
    }

    private static List<String> waits(Way way, boolean isVirtual) throws Exception {
        List<String> seen = new ArrayList<>();
        DatagramChannel closing = way.bound();
        seen.add("receive, closed: " + ThreadContractTest.outcome(isVirtual,
                () -> closing.receive(ByteBuffer.allocate(9)), waiting -> closing.close()));
        try (DatagramChannel channel = way.bound()) {
            seen.add("receive, interrupted: " + ThreadContractTest.outcome(isVirtual,
                    () -> channel.receive(ByteBuffer.allocate(9)), Thread::interrupt)
                    + " " + channel.isOpen());
        }
        try (DatagramChannel peer = way.bound()) {
            DatagramChannel channel = way.open().connect(peer.getLocalAddress());
            seen.add("read, closed: " + ThreadContractTest.outcome(isVirtual,
                    () -> channel.read(ByteBuffer.allocate(9)), waiting -> channel.close()));
        }
        try (DatagramChannel peer = way.bound(); DatagramChannel channel = way.open()) {
            channel.connect(peer.getLocalAddress());
            seen.add("read, a datagram comes: " + ThreadContractTest.outcome(isVirtual,
                    () -> channel.read(ByteBuffer.allocate(9)), waiting -> peer
                            .send(ByteBuffer.allocate(4), channel.getLocalAddress())));
        }
        try (DatagramChannel peer = way.bound()) {
            seen.add("interrupted before: " + interrupted(way, peer, true));
            seen.add("interrupted before, not blocking: " + interrupted(way, peer, false));
        }
        return seen;
    }

    private static String interrupted(Way way, DatagramChannel peer, boolean isBlocking)
            throws IOException {
        try (DatagramChannel channel = way.bound()) {
            channel.configureBlocking(isBlocking);
            Thread.currentThread().interrupt();
            String sent = outcome(channel, isBlocking,
                    (each, to) -> each.send(ByteBuffer.allocate(1), to), peer);
            return sent + " " + channel.isOpen() + " " + Thread.interrupted();
        } finally {
            boolean _ = Thread.interrupted();
        }
    }
}
