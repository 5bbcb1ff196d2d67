// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.protocol.ibcm;

import org.jspecify.annotations.Nullable;

import java.nio.ByteBuffer;

/**
 * How a message of a connection manager names its receiver, for a machine on which several processes have the same
 * address.
 *
 * <p>Source: IBTA 12.6.
 */
public sealed interface CmAddressee {
    /**
     * The listener of a service; in requests.
     *
     * @param lowerId the lower half of the service ID: 16 bits of its port space, 16 of its port; IBTA annex A11.3
     */
    record Service(int lowerId) implements CmAddressee {}

    /** The owner of an identifier; in all messages after a request. */
    record Identifier(int value) implements CmAddressee {}

    /**
     * Whoever has the request that the sender withdraws before it knows the receiver's identifier: nothing in the message
     * names the receiver. IBTA 12.6.7.
     *
     * @param senderId the sender's identifier of its request
     */
    record Requested(int senderId) implements CmAddressee {}

    /** {@return the addressee of a management datagram of 256 bytes, null if it is no connection manager's} */
    static @Nullable CmAddressee of(ByteBuffer mad) {
        if (mad.remaining() != Mad.LENGTH
                || mad.getInt(mad.position()) != Mad.COMMUNICATION_MANAGEMENT_SEND) {
            return null;
        }
        int message = mad.position() + Mad.HEADER_LENGTH;
        return switch (mad.getShort(mad.position() + Mad.ATTRIBUTE) & 0xffff) {
            case CmMessage.Request.ATTRIBUTE, CmMessage.ServiceRequest.ATTRIBUTE ->
                new Service(mad.getInt(message + CmMessage.SERVICE_LOWER_HALF));
            case CmMessage.ServiceReply.ATTRIBUTE -> new Identifier(mad.getInt(message));
            case CmMessage.Reject.ATTRIBUTE -> mad.getInt(message + Integer.BYTES) == 0
                    ? new Requested(mad.getInt(message))
                    : new Identifier(mad.getInt(message + Integer.BYTES));
            default -> new Identifier(mad.getInt(message + Integer.BYTES));
        };
    }
}
