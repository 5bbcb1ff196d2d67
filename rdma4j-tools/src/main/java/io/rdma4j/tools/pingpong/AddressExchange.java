// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.pingpong;

import io.rdma4j.tools.endpoint.PeerReach;
import io.rdma4j.tools.endpoint.QueuePairAddress;
import io.rdma4j.tools.tcp.OutOfBandChannel;
import io.rdma4j.tools.timing.WarmUpRounds;
import io.rdma4j.verbs.Gid;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * The exchange of queue pair addresses between two sides.
 *
 * <p>The client sends its addresses first. The server connects its queue pairs to them before it sends its own, so
 * that the client may send as soon as it knows them; the client sends {@code done}. Then the C programs close the
 * connection. This one stays, to notify the peer when it has finished; a C program never reads that.
 */
final class AddressExchange implements AutoCloseable, OutOfBandChannel.Failures {
    private static final int FINISHED = '.';

    /** Makes a side's queue pairs ready for those of the peer. */
    @FunctionalInterface
    interface Connecting {
        void connect(List<QueuePairAddress> remote) throws IOException;
    }

    private final OutOfBandChannel channel;
    private final PeerReach reach;
    private final boolean isReadyToWarmUp;
    private boolean isPeerReadyToWarmUp;
    /** Until when a silent peer may be compiling. */
    private long compilingUntilNs = System.nanoTime();

    /** @param isReadyToWarmUp whether this side takes part in a warm-up, which the addresses tell */
    AddressExchange(OutOfBandChannel channel, boolean isReadyToWarmUp) {
        this.channel = channel;
        reach = PeerReach.over(channel.localAddress(), channel.remoteAddress(),
                PingPongOptions.GID_OPTION);
        this.isReadyToWarmUp = isReadyToWarmUp;
    }

    /**
     * Sends the own addresses, receives as many of the peer and connects to them.
     *
     * @return the peer's addresses
     * @throws IOException if there are none, or one of the two sides cannot reach the other
     */
    List<QueuePairAddress> exchange(List<QueuePairAddress> own, Connecting connecting)
            throws IOException {
        Gid ownGid = own.getFirst().gid();
        reach.requireOwn(ownGid);
        List<QueuePairAddress> remote;
        if (channel.isClient()) {
            send(own);
            remote = learn(own.size());
            requireReachable(ownGid, remote);
            channel.sendDone(this);
            connecting.connect(remote);
        } else {
            remote = learn(own.size());
            requireReachable(ownGid, remote);
            connecting.connect(remote);
            send(own);
            channel.receiveDone(this);
        }
        return remote;
    }

    private void requireReachable(Gid own, List<QueuePairAddress> remote) throws IOException {
        for (QueuePairAddress address : remote) {
            if (address.number() != 0) {
                reach.requirePeer(own, address.gid());
            }
        }
    }

    /** {@return whether this side connected to the other} */
    boolean isClient() {
        return channel.isClient();
    }

    /** {@return whether both sides take part in a warm-up} Addresses have been exchanged. */
    boolean isWarmUpAgreed() {
        return isReadyToWarmUp && isPeerReadyToWarmUp;
    }

    /** Prepares for a warm-up: this side waits for the peer without sleeping. */
    void stayAwake() {
        channel.stayAwake();
    }

    /** {@return the peer's number} The peer may be compiling before it answers. */
    long exchangeNumber(long own) throws IOException {
        compilingUntilNs = System.nanoTime() + WarmUpRounds.LONGEST.toNanos();
        channel.send(ByteBuffer.allocate(Long.BYTES).putLong(own).array(), this);
        return ByteBuffer.wrap(channel.receive(Long.BYTES, this)).getLong();
    }

    /**
     * Notifies the peer that this side has finished, and waits until the peer has finished or ended, or its time is
     * over.
     *
     * @return whether the peer has finished; a C program has closed the connection before, and a failed Java program
     *         sends nothing
     */
    boolean part() {
        return channel.meet(FINISHED);
    }

    private void send(List<QueuePairAddress> addresses) throws IOException {
        // In one piece: the C programs expect to read an address at once.
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        addresses.forEach(address -> bytes.writeBytes(AddressText.bytes(address, isReadyToWarmUp)));
        channel.send(bytes.toByteArray(), this);
    }

    private List<QueuePairAddress> learn(int count) throws IOException {
        List<QueuePairAddress> addresses = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            byte[] bytes = channel.receive(AddressText.LENGTH, this);
            addresses.add(AddressText.parse(bytes));
            isPeerReadyToWarmUp = AddressText.isMarked(bytes);
        }
        return addresses;
    }

    // ---------------------------------------------------------------- failures

    @Override
    public IOException notSent(IOException cause) {
        return new IOException("Couldn't send local address: " + cause.getMessage(), cause);
    }

    @Override
    public IOException notReceived(IOException cause) {
        return new IOException("Couldn't read remote address: " + cause.getMessage(), cause);
    }

    @Override
    public void onSilence(Duration patience) throws IOException {
        if (System.nanoTime() - compilingUntilNs < 0) {
            return;
        }
        throw new IOException("Couldn't read remote address: the peer says nothing more for "
                + patience.toMillis() / 1000.0 + " s; is it the same tool on both sides?");
    }

    @Override
    public IOException hungUp() {
        return new IOException("Couldn't read remote address: the peer hung up; its own output"
                + " says why");
    }

    @Override
    public void close() throws IOException {
        channel.close();
    }
}
