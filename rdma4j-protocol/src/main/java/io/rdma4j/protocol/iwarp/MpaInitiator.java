// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.protocol.iwarp;

import io.rdma4j.connection.ConnectionParameters;
import io.rdma4j.protocol.iwarp.wire.MpaFrame;
import io.rdma4j.protocol.iwarp.wire.TerminateCause;

/**
 * The active side of the set-up: its request, and the evaluation of the reply. Source: RFC 5044 7.1.2, RFC 6581 5.
 */
public final class MpaInitiator {
    private final MpaFrame request;
    private final MpaSettings settings;
    private final int inboundReads;
    private final int outboundReads;

    /** @param own the parameters of the application, whose private data fits */
    public MpaInitiator(MpaSettings settings, ConnectionParameters own) {
        this.settings = settings;
        inboundReads = Math.min(own.responderResources(), settings.maxReads());
        // The side that sends first may have to use a READ.
        int least = settings.isPeerToPeer() ? 1 : 0;
        outboundReads = Math.clamp(own.initiatorDepth(), least, settings.maxReads());
        int flags = MpaFrame.ENHANCED | (settings.wantsCrc() ? MpaFrame.CRC : 0);
        // [RFC 6581 9.2-1]
        request = new MpaFrame(false, flags, MpaFrame.ENHANCED_REVISION,
                inboundReads | (settings.isPeerToPeer() ? MpaFrame.PEER_TO_PEER : 0),
                outboundReads | (settings.isPeerToPeer()
                        ? MpaFrame.WRITE_RTR | MpaFrame.READ_RTR
                        : 0),
                own.privateData());
    }

    /** {@return the frame to send} Nothing may follow it before the reply has come. */
    public MpaFrame request() {
        return request;
    }

    /** {@return the result of a reply} */
    public MpaAnswer onReply(MpaFrame reply) {
        if (!reply.isOfKnownRevision()) {
            return new MpaAnswer.Unusable(TerminateCause.INVALID_FRAME,
                    "the peer speaks revision " + reply.revision() + " of MPA, this side 1 and 2");
        }
        if (reply.has(MpaFrame.REJECT)) {
            return new MpaAnswer.Rejected(reply.privateData());
        }
        if (reply.has(MpaFrame.MARKERS)) {
            return new MpaAnswer.Unusable(null, "the peer wants markers in the stream");
        }
        if (settings.wantsCrc() && !reply.has(MpaFrame.CRC)) {
            return new MpaAnswer.Unusable(null, "the peer does not want the CRC asked for");
        }
        boolean hasCrc = reply.has(MpaFrame.CRC);
        if (!reply.isEnhanced()) {
            return new MpaAnswer.Accepted(new StreamParameters(true, hasCrc, inboundReads,
                    outboundReads, ReadyToReceive.NONE), reply.privateData());
        }
        return agree(reply, hasCrc);
    }

    private MpaAnswer agree(MpaFrame reply, boolean hasCrc) {
        int wanted = reply.outboundReadCount();
        // [RFC 6581 9.1-2]
        if (wanted != MpaFrame.UNLIMITED && wanted > settings.maxReads()) {
            return new MpaAnswer.Unusable(TerminateCause.INSUFFICIENT_READS, "the peer asks for "
                    + wanted + " READs at once, this side serves " + settings.maxReads());
        }
        ReadyToReceive first = ReadyToReceive.NONE;
        // [RFC 6581 9.2-4]
        if (settings.isPeerToPeer() && reply.isPeerToPeer()) {
            first = chosen(reply);
            if (first == ReadyToReceive.NONE) {
                return new MpaAnswer.Unusable(TerminateCause.NO_MATCHING_RTR,
                        "the peer wants to get first something else than a WRITE or a READ");
            }
        }
        int served = wanted == MpaFrame.UNLIMITED ? inboundReads : wanted;
        // [RFC 6581 9.1-5]
        int granted = reply.inboundReadCount();
        return new MpaAnswer.Accepted(new StreamParameters(true, hasCrc, served,
                granted == MpaFrame.UNLIMITED ? outboundReads : Math.min(outboundReads, granted),
                first), reply.privateData());
    }

    private static ReadyToReceive chosen(MpaFrame reply) {
        // [RFC 6581 9.2-3]
        if ((reply.outboundReads() & MpaFrame.WRITE_RTR) != 0) {
            return ReadyToReceive.WRITE;
        }
        return (reply.outboundReads() & MpaFrame.READ_RTR) != 0
                ? ReadyToReceive.READ
                : ReadyToReceive.NONE;
    }
}
