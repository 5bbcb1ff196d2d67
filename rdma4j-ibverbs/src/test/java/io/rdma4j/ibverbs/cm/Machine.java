// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.ibverbs.cm;

import io.rdma4j.connection.ConnectionParameters;
import io.rdma4j.connection.PortSpace;
import io.rdma4j.ibverbs.abi.CmSymbol;
import io.rdma4j.ibverbs.event.EventLoop;
import io.rdma4j.spi.CmConnection;
import io.rdma4j.spi.CmContext;
import io.rdma4j.spi.CmOptions;
import io.rdma4j.spi.ConnectRequest;
import io.rdma4j.spi.ListenRequest;
import io.rdma4j.spi.PortReservation;
import io.rdma4j.spi.Refusal;
import io.rdma4j.testkit.ListedDevice;
import io.rdma4j.testkit.Wait;
import io.rdma4j.verbs.DeviceKind;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.QueuePairType;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.TransportType;
import org.jspecify.annotations.Nullable;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

import static org.assertj.core.api.Assertions.assertThat;

/** A machine with a device of RoCE and one of iWARP, and with the fake library. */
final class Machine implements AutoCloseable {
    static final InetAddress ROCE = InetAddress.ofLiteral("10.0.0.1");
    static final InetAddress IWARP = InetAddress.ofLiteral("10.0.0.2");
    static final InetAddress PEER = InetAddress.ofLiteral("10.0.0.9");
    static final InetSocketAddress THERE = new InetSocketAddress(PEER, 18515);
    static final int QUEUE_PAIR = 0x0abcde;

    final FakeCm cm = new FakeCm();
    final CmChannel channel;
    final KernelPorts ports;
    final OpenDevice roce;
    final OpenDevice iwarp;
    private final EventLoop loop;

    /** @param missing what an older library does not have */
    Machine(CmSymbol... missing) throws RdmaException {
        for (CmSymbol each : missing) {
            cm.remove(each);
        }
        cm.device("rxe0", List.of(ROCE));
        cm.device("siw0", List.of(IWARP));
        loop = new EventLoop(cm.system, "events of test");
        channel = new CmChannel(cm.library(), cm.system, loop);
        ports = new KernelPorts(channel);
        roce = open("rxe0", TransportType.INFINIBAND, ROCE);
        iwarp = open("siw0", TransportType.IWARP, IWARP);
    }

    private OpenDevice open(String name, TransportType transport, InetAddress address) {
        return new OpenDevice(channel, new ListedDevice(name, DeviceKind.NATIVE, transport),
                List.of(address));
    }

    /** {@return an open device} */
    @Nullable
    CmContext named(String name) {
        return switch (name) {
            case "rxe0" -> roce;
            case "siw0" -> iwarp;
            default -> null;
        };
    }

    static ConnectRequest request(InetAddress source, @Nullable PortReservation port) {
        return new ConnectRequest(PortSpace.TCP, QueuePairType.RC,
                new InetSocketAddress(source, 40000), port, THERE, parameters(), QUEUE_PAIR,
                CmOptions.DEFAULT);
    }

    static ConnectionParameters parameters() {
        return new ConnectionParameters().privateData(new byte[]{1, 2, 3}).responderResources(4)
                .initiatorDepth(5).flowControl(true).retryCount(6).rnrRetryCount(7)
                .sharedReceiveQueue(true);
    }

    /** {@return what a {@code struct rdma_conn_param} has behind its pointer, for {@link #parameters}} */
    static byte[] param() {
        return HexFormat.of().parseHex("03040501060701" + "00" + "debc0a00" + "00000000");
    }

    ListenRequest listen(@Nullable InetAddress address, @Nullable PortReservation port) {
        return new ListenRequest(PortSpace.TCP, QueuePairType.RC, 18515, port, address, null, 2,
                address == null ? this::named : null);
    }

    /** Waits until a function was called as often as said. */
    void await(CmSymbol symbol, int count) {
        Wait.until(symbol.symbol() + " was called", () -> cm.count(symbol) >= count);
    }

    FakeCm.Id newest() {
        return cm.ids().getLast();
    }

    /** The calls of handlers, in order. */
    static final class Heard implements CmConnection.Handler {
        final BlockingQueue<String> words = new LinkedBlockingQueue<>();
        volatile @Nullable CmConnection replied;
        volatile @Nullable ConnectionParameters granted;
        volatile @Nullable Refusal refusal;

        String next() throws InterruptedException {
            String word = words.poll(20, TimeUnit.SECONDS);
            assertThat(word).as("what a handler hears").isNotNull();
            return word == null ? "" : word;
        }

        private void say(String word) {
            boolean isLoop = Thread.currentThread().getName().equals("events of test");
            words.add(isLoop ? word : word + " by a wrong thread");
        }

        @Override
        public void onReply(CmConnection connection, ConnectionParameters parameters) {
            replied = connection;
            granted = parameters;
            say("reply");
        }

        @Override
        public void onEstablished(@Nullable ConnectionParameters parameters) {
            granted = parameters;
            say("established");
        }

        @Override
        public void onRefused(Refusal why) {
            refusal = why;
            say("refused " + why.code());
        }

        @Override
        public void onUnreachable(Errno reason) {
            say("unreachable " + reason);
        }

        @Override
        public void onDisconnected() {
            say("disconnected");
        }

        @Override
        public void onTimewaitExit() {
            say("time-wait over");
        }

        @Override
        public void onUnknownEvent(int typeCode, int status) {
            say("event " + typeCode + " with status " + status);
        }
    }

    @Override
    public void close() {
        roce.close();
        iwarp.close();
        channel.close();
        loop.close();
        assertThat(cm.faults()).isEmpty();
        assertThat(cm.ids()).as("ids that nobody destroyed").isEmpty();
    }
}
