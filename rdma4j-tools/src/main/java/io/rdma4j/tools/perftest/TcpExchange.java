// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.perftest;

import io.rdma4j.tools.endpoint.PeerReach;
import io.rdma4j.tools.tcp.OutOfBandChannel;

import java.io.IOException;
import java.time.Duration;

/** The conversation over TCP. Endpoints are text in it. */
final class TcpExchange extends Exchange implements OutOfBandChannel.Failures {
    private final OutOfBandChannel channel;
    private final PeerReach reach;

    TcpExchange(OutOfBandChannel channel) {
        super(channel.isClient());
        this.channel = channel;
        reach = PeerReach.over(channel.localAddress(), channel.remoteAddress(),
                ConnectOptions.GID_OPTION);
    }

    @Override
    Endpoint exchange(Endpoint own) throws IOException {
        return Endpoint.ofText(exchange(own.toText()));
    }

    @Override
    void requireOwn(Endpoint own) throws IOException {
        reach.requireOwn(own.queuePair().gid());
    }

    @Override
    void requirePeer(Endpoint own, Endpoint peer) throws IOException {
        reach.requirePeer(own.queuePair().gid(), peer.queuePair().gid());
    }

    @Override
    void stayAwake() {
        channel.stayAwake();
    }

    @Override
    void send(byte[] bytes) throws IOException {
        channel.send(bytes, this);
    }

    @Override
    byte[] receive(int length) throws IOException {
        beginWaiting();
        return channel.receive(length, this);
    }

    @Override
    void part(boolean isPeerPatient) {
        channel.part();
    }

    @Override
    void leave(boolean isPeerPatient) {
        channel.leave();
    }

    // ---------------------------------------------------------------- failures

    @Override
    public IOException notSent(IOException cause) {
        return new IOException("Couldn't tell the peer: " + cause.getMessage(), cause);
    }

    @Override
    public IOException notReceived(IOException cause) {
        return new IOException("Couldn't hear the peer: " + cause.getMessage(), cause);
    }

    @Override
    public void onSilence(Duration patience) throws IOException {
        requireLife(patience.toSeconds());
    }

    @Override
    public IOException hungUp() {
        return goneAway();
    }

    @Override
    public void close() throws IOException {
        channel.close();
    }
}
