// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.protocol.iwarp;

/**
 * The parameters that both sides have agreed on.
 *
 * @param isInitiator whether this side has requested the connection
 * @param hasCrc whether units carry a CRC that is checked
 * @param inboundReads how many outstanding READs of the peer this side serves
 * @param outboundReads how many READs this side may have outstanding
 * @param readyToReceive the first message of the initiator
 */
public record StreamParameters(boolean isInitiator, boolean hasCrc, int inboundReads,
        int outboundReads, ReadyToReceive readyToReceive) {}
