// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets.engine;

import io.rdma4j.cm.CmId;
import io.rdma4j.sockets.observe.jfr.SocketEvents;
import io.rdma4j.sockets.observe.jfr.SocketEvents.End;
import io.rdma4j.sockets.observe.jmx.SocketConnectionData;
import io.rdma4j.sockets.protocol.RsocketStream;
import io.rdma4j.sockets.protocol.StreamFigures;
import io.rdma4j.sockets.protocol.StreamSettings;
import org.jspecify.annotations.Nullable;

import java.net.InetSocketAddress;
import java.util.concurrent.TimeUnit;

/** What JMX and Java Flight Recorder show of a connection. Not thread safe: its connection guards it. */
final class ShownConnection {
    private final ConnectionState state;
    private final StreamSettings settings;
    private final String device;
    private final InetSocketAddress localAddress;
    private final InetSocketAddress peerAddress;
    private final int queuePair;
    private final String rule;
    private boolean wasAccepted;
    private long establishedNs;

    /**
     * @param id has a device
     * @param queuePair the number of its queue pair
     * @param rule that has decided for it, empty if none has
     */
    ShownConnection(ConnectionState state, StreamSettings settings, CmId id, int queuePair,
            String rule) {
        this.state = state;
        this.settings = settings;
        this.queuePair = queuePair;
        this.rule = rule;
        device = id.context().device().name();
        localAddress = id.localAddress();
        peerAddress = id.peerAddress();
    }

    InetSocketAddress localAddress() {
        return localAddress;
    }

    InetSocketAddress peerAddress() {
        return peerAddress;
    }

    /** A listener has got it. */
    void onAccepting() {
        wasAccepted = true;
    }

    void onEstablished() {
        establishedNs = System.nanoTime();
    }

    /** {@return what JMX shows, null if everything is freed} */
    @Nullable
    SocketConnectionData data(int keepaliveSeconds) {
        if (state.isFreed()) {
            return null;
        }
        StreamFigures figures = figures();
        return new SocketConnectionData(device, queuePair, wasAccepted ? "accept" : "connect",
                state(), localAddress.getAddress().getHostAddress(),
                localAddress.getPort(), peerAddress.getAddress().getHostAddress(),
                peerAddress.getPort(), figures.receiveBuffer(), figures.sendBuffer(),
                figures.readable(), figures.unacknowledged(), figures.receiveCredits(),
                figures.sendCredits(), figures.receiveRoom(), figures.sendRoom(),
                figures.receivedBytes(), figures.sentBytes(), figures.mappedBytes(),
                keepaliveSeconds, rule,
                state.isConnecting()
                        ? 0
                        : TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - establishedNs));
    }

    private String state() {
        RsocketStream open = state.stream();
        if (state.isClosing()) {
            return "CLOSING";
        }
        if (state.isConnecting() || open == null) {
            return "CONNECTING";
        }
        if (state.failure() != null) {
            return "BROKEN";
        }
        if (open.isInputEnded()) {
            return open.isOutputEnded() ? "ENDED" : "INPUT_ENDED";
        }
        return open.isOutputEnded() ? "OUTPUT_ENDED" : "ESTABLISHED";
    }

    /** {@return what events tell of it} */
    SocketEvents.Ends ends() {
        return new SocketEvents.Ends(localAddress, peerAddress, device, queuePair, rule);
    }

    /** The application has accepted it. */
    void recordAccept() {
        if (SocketEvents.recordsAccepts()) {
            SocketEvents.accept(ends(), System.nanoTime() - establishedNs);
        }
    }

    /** It has ended, unless it was never established. */
    void recordEnd(End end) {
        if (!state.isEstablished() || !SocketEvents.recordsCloses()) {
            return;
        }
        StreamFigures figures = figures();
        SocketEvents.close(end, ends(), System.nanoTime() - establishedNs, figures.sentBytes(),
                figures.receivedBytes(), figures.mappedBytes(),
                end == End.BROKEN ? state.failure() : null);
    }

    private StreamFigures figures() {
        RsocketStream open = state.stream();
        return open == null ? StreamFigures.ofNone(settings) : open.figures();
    }

    @Override
    public String toString() {
        return localAddress + " → " + peerAddress;
    }
}
