// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.network;

import io.rdma4j.protocol.roce.wire.Icrc;
import io.rdma4j.protocol.roce.wire.PacketView;
import io.rdma4j.softnic.options.Impairment;
import io.rdma4j.verbs.Gid;

import java.nio.ByteBuffer;
import java.util.Random;

import static io.rdma4j.protocol.roce.wire.Path.UDP_PORT;

/**
 * Draws what happens to each packet.
 *
 * <p>Each packet draws the same number of random numbers, so a change of one probability does not affect
 * the others: with more loss, the same packets are duplicated, unless they are lost.
 */
final class ImpairmentDraw {
    /** The minimum and maximum time that a packet is held back, so that later ones overtake it. */
    static final long MIN_HOLD_NS = 50_000;
    static final long MAX_HOLD_NS = 1_000_000;

    private final Impairment impairment;
    private final long delayNs;
    private final long jitterNs;
    private final Random random;
    private final Random bits;
    private boolean isLost;
    private boolean isDoubled;
    private boolean isDamaged;
    private long travelNs;
    private long holdNs;

    ImpairmentDraw(Impairment impairment) {
        this.impairment = impairment;
        delayNs = impairment.delay().toNanos();
        jitterNs = impairment.jitter().toNanos();
        random = new Random(impairment.seed());
        bits = new Random(~impairment.seed());
    }

    /** Draws what happens to the next packet. */
    void next() {
        isLost = random.nextDouble() < impairment.loss();
        isDoubled = random.nextDouble() < impairment.duplication();
        isDamaged = random.nextDouble() < impairment.corruption();
        boolean isHeldBack = random.nextDouble() < impairment.reordering();
        long jitter = (long) (random.nextDouble() * jitterNs);
        long hold = MIN_HOLD_NS + (long) (random.nextDouble() * (MAX_HOLD_NS - MIN_HOLD_NS));
        travelNs = delayNs + jitter;
        holdNs = isHeldBack ? hold : 0;
    }

    /** {@return whether it vanishes} */
    boolean isLost() {
        return isLost;
    }

    /** {@return whether it is sent twice} */
    boolean isDoubled() {
        return isDoubled;
    }

    /** {@return whether to {@link #damage} it} */
    boolean isDamaged() {
        return isDamaged;
    }

    /** {@return by how much it is late, in its order} */
    long travelNs() {
        return travelNs;
    }

    /** {@return how long it is held back in addition, so that others overtake it} */
    long holdNs() {
        return holdNs;
    }

    /** {@return whether it is sent as it is, once and now} */
    boolean isHarmless() {
        return !isLost && !isDoubled && !isDamaged && holdNs == 0 && delayNs == 0 && jitterNs == 0;
    }

    /**
     * Flips one bit that the receiver's check of the ICRC notices: a few header bits are not covered, and
     * over IPv4 one flip in 65,536 looks like another Identification.
     */
    void damage(ByteBuffer datagram, Icrc icrc, Gid source, Gid destination) {
        int length = datagram.limit();
        if (length <= PacketView.ICRC_LENGTH) {
            return;
        }
        boolean isNoticed = false;
        while (!isNoticed) {
            int at = bits.nextInt(length);
            byte mask = (byte) (1 << bits.nextInt(Byte.SIZE));
            datagram.put(at, (byte) (datagram.get(at) ^ mask));
            isNoticed = icrc.identify(source, destination, UDP_PORT, 0, datagram, 0, length) < 0;
            datagram.limit(length).position(0);
            if (!isNoticed) {
                datagram.put(at, (byte) (datagram.get(at) ^ mask));
            }
        }
    }
}
