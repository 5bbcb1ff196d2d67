package io.rdma4j.protocol.iwarp;

/**
 * What two sides have agreed on.
 *
 * @param isInitiator whether this side has asked for the connection
 * @param hasCrc whether units carry a CRC that is checked
 * @param inboundReads how many READs this side serves at once
 * @param outboundReads how many READs this side may ask for at once
 * @param readyToReceive what the initiator sends first
 */
public record StreamParameters(boolean isInitiator, boolean hasCrc, int inboundReads,
        int outboundReads, ReadyToReceive readyToReceive) {}
