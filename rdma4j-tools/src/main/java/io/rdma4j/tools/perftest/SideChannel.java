// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.perftest;

import io.rdma4j.tools.timing.WarmUpRounds;
import io.rdma4j.verbs.Mtu;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.LongSupplier;

/**
 * The messages between the two sides of a test. Every exchange is also a synchronization point, at which a side may
 * wait as long as the peer measures.
 */
final class SideChannel implements AutoCloseable {
    /** The version of the C programs with the same exchange. */
    private static final String VERSION = "6.06";
    private static final double OLDEST = 5.7;
    private static final int VERSION_BYTES = 16;
    private static final int MTU_BYTES = 2;
    /** The size of the range in which a side places its messages. The larger value of both sides is used. */
    private static final int CYCLE_BYTES = 4096;
    private static final int CACHE_LINE_BYTES = 64;

    /** Follows the end of the version text, where the C programs send zeros and read nothing. */
    private static final byte[] WARM_UP = "warm-up".getBytes(StandardCharsets.US_ASCII);
    private static final int WARM_UP_AT = 8;

    private final Exchange exchange;
    private boolean isPeerReadyToWarmUp;
    private int cycleBytes = CYCLE_BYTES;

    SideChannel(Exchange exchange) {
        this.exchange = exchange;
    }

    /** From now on a silent peer counts as alive while this number grows. */
    void watch(LongSupplier packetsArrived) {
        exchange.watch(packetsArrived);
    }

    // ---------------------------------------------------------------- what is said

    /**
     * Exchanges version, sizes of buffers and packets, and whether to warm up.
     *
     * @param isReadyToWarmUp whether this side takes part in a warm-up
     * @return the path MTU that both sides support
     */
    Mtu greet(Mtu own, boolean isReadyToWarmUp) throws IOException {
        byte[] version = Arrays.copyOf(VERSION.getBytes(StandardCharsets.US_ASCII), VERSION_BYTES);
        if (isReadyToWarmUp) {
            System.arraycopy(WARM_UP, 0, version, WARM_UP_AT, WARM_UP.length);
        }
        byte[] told = exchange.exchange(version);
        checkVersion(told);
        isPeerReadyToWarmUp = Arrays.equals(told, WARM_UP_AT, WARM_UP_AT + WARM_UP.length,
                WARM_UP, 0, WARM_UP.length);
        cycleBytes = Math.max(cycleBytes, exchangeInt(CYCLE_BYTES));
        exchangeInt(CACHE_LINE_BYTES);
        byte[] code = {(byte) ('0' + own.code()), 0};
        Mtu remote = Mtu.ofCode(exchange.exchange(Arrays.copyOf(code, MTU_BYTES))[0] - '0');
        if (remote == null) {
            throw new IOException("the peer tells no path MTU; is it the same tool on both sides?");
        }
        return Mtu.min(own, remote);
    }

    private static void checkVersion(byte[] told) throws IOException {
        String text = new String(told, StandardCharsets.ISO_8859_1);
        int end = text.indexOf('\0');
        String version = end < 0 ? text : text.substring(0, end);
        try {
            if (Double.parseDouble(version) < OLDEST) {
                throw new IOException("the peer's version of perftest is " + version
                        + "; from 5.70 on they understand each other");
            }
        } catch (NumberFormatException e) {
            throw new IOException("the peer does not speak as perftest does", e);
        }
    }

    /** {@return whether the peer takes part in a warm-up} */
    boolean isPeerReadyToWarmUp() {
        return isPeerReadyToWarmUp;
    }

    /** From now on this side waits for the peer without sleeping, where that makes a difference. */
    void stayAwake() {
        exchange.stayAwake();
    }

    /** {@return the peer's number in a warm-up} The peer may be compiling before it answers. */
    long exchangeNumber(long own) throws IOException {
        exchange.allowSilence(WarmUpRounds.LONGEST);
        return exchangeLong(own);
    }

    /** {@return the number of bytes from its address on that a peer may use} */
    int cycleBytes() {
        return cycleBytes;
    }

    /** Exchanges endpoints with the peer, or only synchronizes with it. */
    Endpoint exchange(Endpoint own) throws IOException {
        return exchange.exchange(own);
    }

    /**
     * {@return the peer's endpoints, as many as the own ones}
     *
     * @throws IOException if there are none, or one of the two sides cannot reach the other
     */
    List<Endpoint> exchange(List<Endpoint> own) throws IOException {
        List<Endpoint> remote = new ArrayList<>();
        for (Endpoint each : own) {
            exchange.requireOwn(each);
            Endpoint peer = exchange(each);
            exchange.requirePeer(each, peer);
            remote.add(peer);
        }
        return remote;
    }

    /** {@return the result of the peer} */
    BandwidthResult exchange(BandwidthResult own) throws IOException {
        return new BandwidthResult(exchangeLong(own.size()), exchangeLong(own.messages()),
                Double.longBitsToDouble(exchangeLong(Double.doubleToLongBits(own.peak()))),
                Double.longBitsToDouble(exchangeLong(Double.doubleToLongBits(own.average()))),
                Double.longBitsToDouble(exchangeLong(Double.doubleToLongBits(own.rate()))));
    }

    /** Ends the exchange as soon as the peer has finished too. */
    void part(Endpoint own) throws IOException {
        exchange(own);
        exchange.part(isPeerReadyToWarmUp);
    }

    /** As {@link Exchange#leave}. */
    void leave() throws IOException {
        exchange.leave(isPeerReadyToWarmUp);
    }

    // ---------------------------------------------------------------- how

    private int exchangeInt(int own) throws IOException {
        return ByteBuffer
                .wrap(exchange.exchange(ByteBuffer.allocate(Integer.BYTES).putInt(own).array()))
                .getInt();
    }

    private long exchangeLong(long own) throws IOException {
        return ByteBuffer
                .wrap(exchange.exchange(ByteBuffer.allocate(Long.BYTES).putLong(own).array()))
                .getLong();
    }

    @Override
    public void close() throws IOException {
        exchange.close();
    }
}
