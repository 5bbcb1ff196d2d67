// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.spi;

/**
 * Why a peer, or its system, refused.
 *
 * @param code a number of the transport's own: of InfiniBand a reason of IBTA table 108 or a status of table 117, of
 *        iWARP a negative errno; applications see it as the status of the event
 * @param text the number in words
 * @param privateData bytes of the peer's application, empty if there are none
 * @param isByNobody whether no program listens there on this transport, though one may on another; where a transport cannot
 *        tell, false
 */
public record Refusal(int code, String text, byte[] privateData, boolean isByNobody) {
    /** One by a program, or by its system for another reason than that there is none. */
    public Refusal(int code, String text, byte[] privateData) {
        this(code, text, privateData, false);
    }
}
