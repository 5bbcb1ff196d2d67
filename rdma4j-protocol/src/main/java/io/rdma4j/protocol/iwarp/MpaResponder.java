// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.protocol.iwarp;

import io.rdma4j.connection.ConnectionParameters;
import io.rdma4j.protocol.iwarp.wire.MpaFrame;
import org.jspecify.annotations.Nullable;

/**
 * The passive side of the set-up: the offer of the request, and the replies to it. Source: RFC 5044 7.1.2, RFC 6581 5.
 */
public final class MpaResponder {
    private static final byte[] NOTHING = {};

    private final MpaSettings settings;
    private final MpaFrame request;

    /** @param request whose revision is known: see {@link #isKnown} */
    public MpaResponder(MpaSettings settings, MpaFrame request) {
        this.settings = settings;
        this.request = request;
    }

    /** {@return whether this side supports the revision of a request} A request of another revision gets no reply. */
    public static boolean isKnown(MpaFrame request) {
        // [RFC 6581 6-2]
        return request.isOfKnownRevision();
    }

    /**
     * {@return the reply to a request for an unsupported option, or with a flag that only a reply may have; null if the
     * request can be accepted}
     */
    public @Nullable MpaFrame refusal() {
        return request.has(MpaFrame.MARKERS) || request.has(MpaFrame.REJECT)
                ? rejection(NOTHING)
                : null;
    }

    /** {@return the maximum number of READs that this side may have outstanding} */
    public int outboundReads() {
        return Math.min(request.inboundReadCount(), settings.maxReads());
    }

    /** {@return how many outstanding READs of the peer this side shall serve} */
    public int inboundReads() {
        return Math.min(request.outboundReadCount(), settings.maxReads());
    }

    /** {@return the initiator's private data} */
    public byte[] privateData() {
        return request.privateData();
    }

    /**
     * {@return the agreed parameters if this side accepts}
     *
     * @param own the parameters of the application
     */
    public StreamParameters parameters(ConnectionParameters own) {
        // [RFC 6581 9.1-1]
        return new StreamParameters(false, hasCrc(),
                Math.clamp(own.responderResources(), wantedReads(), settings.maxReads()),
                Math.min(own.initiatorDepth(), outboundReads()), readyToReceive());
    }

    /** {@return the reads that the peer insists on} */
    private int wantedReads() {
        return request.outboundReadCount() == MpaFrame.UNLIMITED ? 0 : inboundReads();
    }

    private boolean hasCrc() {
        // [RFC 5044 7.1.1-2]
        return settings.wantsCrc() || request.has(MpaFrame.CRC);
    }

    /** As siw: a WRITE, unless a READ is all that is offered. */
    private ReadyToReceive readyToReceive() {
        // [RFC 6581 9.2-2]
        if (!request.isPeerToPeer()) {
            return ReadyToReceive.NONE;
        }
        int offered = request.outboundReads() & (MpaFrame.WRITE_RTR | MpaFrame.READ_RTR);
        return offered == MpaFrame.READ_RTR ? ReadyToReceive.READ : ReadyToReceive.WRITE;
    }

    /**
     * {@return the reply that accepts}
     *
     * @param agreed the result of {@link #parameters}
     */
    public MpaFrame acceptance(StreamParameters agreed, byte[] privateData) {
        // Who does not negotiate a number is answered that there is none, and the application's own holds.
        // [RFC 6581 9.1-4]
        int served = request.outboundReadCount() == MpaFrame.UNLIMITED
                ? MpaFrame.UNLIMITED
                : agreed.inboundReads();
        int asked = request.inboundReadCount() == MpaFrame.UNLIMITED
                ? MpaFrame.UNLIMITED
                : agreed.outboundReads();
        switch (agreed.readyToReceive()) {
            case NONE -> {
                // No flag for it.
            }
            case WRITE -> {
                served |= MpaFrame.PEER_TO_PEER;
                asked |= MpaFrame.WRITE_RTR;
            }
            case READ -> {
                served |= MpaFrame.PEER_TO_PEER;
                asked |= MpaFrame.READ_RTR;
            }
        }
        return reply(agreed.hasCrc() ? MpaFrame.CRC : 0, served, asked, privateData);
    }

    /** {@return the reply that rejects} */
    public MpaFrame rejection(byte[] privateData) {
        return reply(MpaFrame.REJECT, 0, 0, privateData);
    }

    private MpaFrame reply(int flags, int inbound, int outbound, byte[] privateData) {
        // [RFC 6581 10-1]
        return new MpaFrame(true, flags | (request.flags() & MpaFrame.ENHANCED),
                request.revision(), inbound, outbound, privateData);
    }
}
