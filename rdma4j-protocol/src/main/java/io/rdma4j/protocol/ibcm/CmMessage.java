// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.protocol.ibcm;

import io.rdma4j.connection.RejectReason;
import io.rdma4j.protocol.roce.wire.Psn;
import io.rdma4j.verbs.Mtu;
import org.jspecify.annotations.Nullable;

import java.nio.ByteBuffer;

/**
 * A message of the connection manager.
 *
 * <p>Private data has its full length, padded with zeros. Source: IBTA 12.6.
 */
sealed interface CmMessage {
    /** Where the lower half of the service ID stands in a request and a service request. */
    int SERVICE_LOWER_HALF = 12;

    /** {@return the attribute that names the message in the datagram's header} */
    int attribute();

    /** Writes the 232 bytes after the datagram's header. */
    void encode(ByteBuffer out);

    /**
     * A message with the transaction it belongs to.
     *
     * @param transaction the transaction identifier
     * @param message the message
     */
    record Received(long transaction, CmMessage message) {}

    /** {@return the message in 256 bytes, or null if its type is not known here} */
    static @Nullable Received decode(ByteBuffer in) {
        if (in.remaining() != Mad.LENGTH) {
            return null;
        }
        if (in.getInt() != Mad.COMMUNICATION_MANAGEMENT_SEND) {
            return null;
        }
        in.getInt();
        long transaction = in.getLong();
        int attribute = in.getShort() & 0xffff;
        in.getShort();
        in.getInt();
        CmMessage message = switch (attribute) {
            case Request.ATTRIBUTE -> Request.decode(in);
            case Reply.ATTRIBUTE -> Reply.decode(in);
            case ReadyToUse.ATTRIBUTE ->
                new ReadyToUse(in.getInt(), in.getInt(),
                        PrivateData.decode(in, ReadyToUse.PRIVATE_DATA));
            case Reject.ATTRIBUTE -> Reject.decode(in);
            case MessageReceipt.ATTRIBUTE -> new MessageReceipt(in.getInt(), in.getInt(),
                    in.get() >>> 6 & 3, in.get() >>> 3 & 0x1f,
                    PrivateData.decode(in, MessageReceipt.PRIVATE_DATA));
            case DisconnectRequest.ATTRIBUTE -> new DisconnectRequest(in.getInt(), in.getInt(),
                    in.getInt() >>> 8, PrivateData.decode(in, DisconnectRequest.PRIVATE_DATA));
            case DisconnectReply.ATTRIBUTE ->
                new DisconnectReply(in.getInt(), in.getInt(),
                        PrivateData.decode(in, DisconnectReply.PRIVATE_DATA));
            case LoadAlternatePath.ATTRIBUTE -> new LoadAlternatePath(in.getInt(), in.getInt());
            case AlternatePathResponse.ATTRIBUTE -> AlternatePathResponse.decode(in);
            case ServiceRequest.ATTRIBUTE -> ServiceRequest.decode(in);
            case ServiceReply.ATTRIBUTE -> ServiceReply.decode(in);
            default -> null;
        };
        return message == null ? null : new Received(transaction, message);
    }

    /** Writes the 256 bytes of a datagram. */
    static void encode(long transaction, CmMessage message, ByteBuffer out) {
        out.putInt(Mad.COMMUNICATION_MANAGEMENT_SEND).putInt(0).putLong(transaction);
        out.putShort((short) message.attribute()).putShort((short) 0).putInt(0);
        message.encode(out);
    }

    /**
     * Asks for a connection (REQ).
     *
     * @param senderId the requester's communication identifier
     * @param serviceId what is asked for
     * @param nodeGuid the requester's node
     * @param qkey its Q_Key
     * @param queuePair its queue pair
     * @param responderResources READs and atomics it can hold
     * @param initiatorDepth READs and atomics it wants outstanding
     * @param remoteResponseTimeout 5 bits: how long the listener may take
     * @param transportType 0 is RC
     * @param flowControl whether it offers end-to-end flow control
     * @param startingPsn the PSN that the receiver of this message shall begin with
     * @param localResponseTimeout 5 bits: how long it may take itself
     * @param retryCount retries the listener shall use
     * @param pkey the partition
     * @param pathMtu a code
     * @param rnrRetryCount retries the listener shall use while not ready
     * @param maxRetries retries of connection manager messages
     * @param sharedReceiveQueue whether it uses one
     * @param primary the path
     * @param alternate another, or {@link PathRecord#NONE}
     * @param privateData 92 bytes
     */
    record Request(int senderId, long serviceId, long nodeGuid, int qkey, int queuePair,
            int responderResources, int initiatorDepth, int remoteResponseTimeout,
            int transportType, boolean flowControl, int startingPsn, int localResponseTimeout,
            int retryCount, int pkey, int pathMtu, int rnrRetryCount, int maxRetries,
            boolean sharedReceiveQueue, PathRecord primary, PathRecord alternate,
            PrivateData privateData) implements CmMessage {
        static final int ATTRIBUTE = 0x10;
        static final int PRIVATE_DATA = 92;

        public Request {
            privateData.requireAtMost(PRIVATE_DATA);
        }

        /** {@return the same request for another path MTU} */
        Request withPathMtu(int code) {
            return new Request(senderId, serviceId, nodeGuid, qkey, queuePair, responderResources,
                    initiatorDepth, remoteResponseTimeout, transportType, flowControl, startingPsn,
                    localResponseTimeout, retryCount, pkey, code, rnrRetryCount, maxRetries,
                    sharedReceiveQueue, primary, alternate, privateData);
        }

        static Request decode(ByteBuffer in) {
            int senderId = in.getInt();
            in.getInt();
            long serviceId = in.getLong();
            long nodeGuid = in.getLong();
            in.getInt();
            int qkey = in.getInt();
            int word32 = in.getInt();
            int word36 = in.getInt();
            int word40 = in.getInt();
            int word44 = in.getInt();
            int pkey = in.getShort() & 0xffff;
            int byte50 = in.get();
            int byte51 = in.get();
            PathRecord primary = PathRecord.decode(in);
            PathRecord alternate = PathRecord.decode(in);
            return new Request(senderId, serviceId, nodeGuid, qkey, word32 >>> 8, word32 & 0xff,
                    word36 & 0xff, word40 >>> 3 & 0x1f, word40 >>> 1 & 3, (word40 & 1) != 0,
                    word44 >>> 8, word44 >>> 3 & 0x1f, word44 & 7, pkey, byte50 >>> 4 & 0xf,
                    byte50 & 7, byte51 >>> 4 & 0xf, (byte51 & 8) != 0, primary, alternate,
                    PrivateData.decode(in, PRIVATE_DATA));
        }

        @Override
        public int attribute() {
            return ATTRIBUTE;
        }

        @Override
        public void encode(ByteBuffer out) {
            out.putInt(senderId).putInt(0).putLong(serviceId).putLong(nodeGuid).putInt(0)
                    .putInt(qkey);
            out.putInt(queuePair << 8 | responderResources).putInt(initiatorDepth);
            out.putInt(remoteResponseTimeout << 3 | transportType << 1 | (flowControl ? 1 : 0));
            out.putInt((startingPsn & Psn.MASK) << 8 | localResponseTimeout << 3 | retryCount);
            out.putShort((short) pkey).put((byte) (pathMtu << 4 | rnrRetryCount))
                    .put((byte) (maxRetries << 4 | (sharedReceiveQueue ? 8 : 0)));
            primary.encode(out);
            alternate.encode(out);
            privateData.encode(out, PRIVATE_DATA);
        }
    }

    /**
     * Accepts a request (REP).
     *
     * @param senderId the listener's communication identifier
     * @param receiverId the requester's
     * @param qkey its Q_Key
     * @param queuePair its queue pair
     * @param startingPsn the PSN that the receiver of this message shall begin with
     * @param responderResources READs and atomics it can hold
     * @param initiatorDepth READs and atomics it will have outstanding
     * @param targetAckDelay 5 bits: the delay before it acknowledges
     * @param failoverAccepted 2 bits
     * @param flowControl whether it offers end-to-end flow control
     * @param rnrRetryCount retries the requester shall use while not ready
     * @param sharedReceiveQueue whether it uses one
     * @param nodeGuid its node
     * @param privateData 196 bytes
     */
    record Reply(int senderId, int receiverId, int qkey, int queuePair, int startingPsn,
            int responderResources, int initiatorDepth, int targetAckDelay, int failoverAccepted,
            boolean flowControl, int rnrRetryCount, boolean sharedReceiveQueue, long nodeGuid,
            PrivateData privateData) implements CmMessage {
        static final int ATTRIBUTE = 0x13;
        static final int PRIVATE_DATA = 196;

        public Reply {
            privateData.requireAtMost(PRIVATE_DATA);
        }

        static Reply decode(ByteBuffer in) {
            int senderId = in.getInt();
            int receiverId = in.getInt();
            int qkey = in.getInt();
            int queuePair = in.getInt() >>> 8;
            in.getInt();
            int startingPsn = in.getInt() >>> 8;
            int responderResources = in.get() & 0xff;
            int initiatorDepth = in.get() & 0xff;
            int byte26 = in.get();
            int byte27 = in.get();
            return new Reply(senderId, receiverId, qkey, queuePair, startingPsn, responderResources,
                    initiatorDepth, byte26 >>> 3 & 0x1f, byte26 >>> 1 & 3, (byte26 & 1) != 0,
                    byte27 >>> 5 & 7, (byte27 & 0x10) != 0, in.getLong(),
                    PrivateData.decode(in, PRIVATE_DATA));
        }

        @Override
        public int attribute() {
            return ATTRIBUTE;
        }

        @Override
        public void encode(ByteBuffer out) {
            out.putInt(senderId).putInt(receiverId).putInt(qkey).putInt(queuePair << 8).putInt(0);
            out.putInt((startingPsn & Psn.MASK) << 8);
            out.put((byte) responderResources).put((byte) initiatorDepth);
            out.put((byte) (targetAckDelay << 3 | failoverAccepted << 1 | (flowControl ? 1 : 0)));
            out.put((byte) (rnrRetryCount << 5 | (sharedReceiveQueue ? 0x10 : 0)));
            out.putLong(nodeGuid);
            privateData.encode(out, PRIVATE_DATA);
        }
    }

    /**
     * Confirms a reply (RTU).
     *
     * @param senderId the sender's communication identifier
     * @param receiverId the receiver's
     * @param privateData 224 bytes
     */
    record ReadyToUse(int senderId, int receiverId, PrivateData privateData) implements CmMessage {
        static final int ATTRIBUTE = 0x14;
        static final int PRIVATE_DATA = 224;

        public ReadyToUse {
            privateData.requireAtMost(PRIVATE_DATA);
        }

        @Override
        public int attribute() {
            return ATTRIBUTE;
        }

        @Override
        public void encode(ByteBuffer out) {
            out.putInt(senderId).putInt(receiverId);
            privateData.encode(out, PRIVATE_DATA);
        }
    }

    /**
     * Rejects (REJ).
     *
     * @param senderId the sender's communication identifier, 0 if it has none
     * @param receiverId the receiver's
     * @param rejected which message: 0 a request, 1 a reply, 2 none
     * @param reason why, table 108
     * @param information 72 bytes more about the reason
     * @param informationLength how many of them count
     * @param privateData 148 bytes
     */
    record Reject(int senderId, int receiverId, int rejected, int reason, PrivateData information,
            int informationLength, PrivateData privateData) implements CmMessage {
        static final int ATTRIBUTE = 0x12;
        static final int PRIVATE_DATA = 148;
        static final int INFORMATION = 72;
        static final int OF_REQUEST = 0;
        static final int OF_REPLY = 1;
        static final int OF_NONE = 2;

        public Reject {
            privateData.requireAtMost(PRIVATE_DATA);
            information.requireAtMost(INFORMATION);
        }

        /** {@return the path MTU that would do, of a rejection for the one of the request; null if it names none} */
        @Nullable
        Mtu acceptableMtu() {
            // In the upper four bits, as in a request. IBTA 12.6.7.2.
            return reason == RejectReason.INVALID_MTU.code() && informationLength > 0
                    ? Mtu.ofCode(information.bytes()[0] >>> 4 & 0xf)
                    : null;
        }

        static Reject decode(ByteBuffer in) {
            int senderId = in.getInt();
            int receiverId = in.getInt();
            int rejected = in.get() >>> 6 & 3;
            int informationLength = in.get() >>> 1 & 0x7f;
            int reason = in.getShort() & 0xffff;
            return new Reject(senderId, receiverId, rejected, reason,
                    PrivateData.decode(in, INFORMATION),
                    informationLength,
                    PrivateData.decode(in, PRIVATE_DATA));
        }

        @Override
        public int attribute() {
            return ATTRIBUTE;
        }

        @Override
        public void encode(ByteBuffer out) {
            out.putInt(senderId).putInt(receiverId).put((byte) (rejected << 6))
                    .put((byte) (informationLength << 1)).putShort((short) reason);
            information.encode(out, INFORMATION);
            privateData.encode(out, PRIVATE_DATA);
        }
    }

    /**
     * Asks the sender of a message to wait longer (MRA).
     *
     * @param senderId the sender's communication identifier
     * @param receiverId the receiver's
     * @param received which message: 0 a request, 1 a reply, 2 an alternate path
     * @param serviceTimeout 5 bits: how long the answer may take
     * @param privateData 222 bytes
     */
    record MessageReceipt(int senderId, int receiverId, int received, int serviceTimeout,
            PrivateData privateData) implements CmMessage {
        static final int ATTRIBUTE = 0x11;
        static final int PRIVATE_DATA = 222;
        static final int OF_REQUEST = 0;
        static final int OF_REPLY = 1;

        public MessageReceipt {
            privateData.requireAtMost(PRIVATE_DATA);
        }

        @Override
        public int attribute() {
            return ATTRIBUTE;
        }

        @Override
        public void encode(ByteBuffer out) {
            out.putInt(senderId).putInt(receiverId).put((byte) (received << 6))
                    .put((byte) (serviceTimeout << 3));
            privateData.encode(out, PRIVATE_DATA);
        }
    }

    /**
     * Ends a connection (DREQ).
     *
     * @param senderId the sender's communication identifier
     * @param receiverId the receiver's
     * @param remoteQueuePair the receiver's queue pair
     * @param privateData 220 bytes
     */
    record DisconnectRequest(int senderId, int receiverId, int remoteQueuePair,
            PrivateData privateData)
            implements
                CmMessage {
        static final int ATTRIBUTE = 0x15;
        static final int PRIVATE_DATA = 220;

        public DisconnectRequest {
            privateData.requireAtMost(PRIVATE_DATA);
        }

        @Override
        public int attribute() {
            return ATTRIBUTE;
        }

        @Override
        public void encode(ByteBuffer out) {
            out.putInt(senderId).putInt(receiverId).putInt(remoteQueuePair << 8);
            privateData.encode(out, PRIVATE_DATA);
        }
    }

    /**
     * Confirms the end (DREP).
     *
     * @param senderId the sender's communication identifier
     * @param receiverId the receiver's
     * @param privateData 224 bytes
     */
    record DisconnectReply(int senderId, int receiverId,
            PrivateData privateData) implements CmMessage {
        static final int ATTRIBUTE = 0x16;
        static final int PRIVATE_DATA = 224;

        public DisconnectReply {
            privateData.requireAtMost(PRIVATE_DATA);
        }

        /** {@return the answer of a side that does not know the connection} */
        static DisconnectReply to(DisconnectRequest request) {
            return new DisconnectReply(/* senderId= */ request.receiverId,
                    /* receiverId= */ request.senderId, PrivateData.NONE);
        }

        @Override
        public int attribute() {
            return ATTRIBUTE;
        }

        @Override
        public void encode(ByteBuffer out) {
            out.putInt(senderId).putInt(receiverId);
            privateData.encode(out, PRIVATE_DATA);
        }
    }

    /**
     * Offers another path for a connection (LAP); only the identifiers are read. Source: IBTA 12.8.1.
     *
     * @param senderId the sender's communication identifier
     * @param receiverId the receiver's
     */
    record LoadAlternatePath(int senderId, int receiverId) implements CmMessage {
        static final int ATTRIBUTE = 0x19;
        private static final int REST = 224;

        @Override
        public int attribute() {
            return ATTRIBUTE;
        }

        @Override
        public void encode(ByteBuffer out) {
            out.putInt(senderId).putInt(receiverId);
            PrivateData.NONE.encode(out, REST);
        }
    }

    /**
     * Answers such an offer (APR). Source: IBTA 12.8.2.
     *
     * @param senderId the sender's communication identifier
     * @param receiverId the receiver's
     * @param status what happens to the offer, table 124
     */
    record AlternatePathResponse(int senderId, int receiverId, int status) implements CmMessage {
        static final int ATTRIBUTE = 0x1a;
        static final int INVALID_COMMUNICATION_ID = 1;
        static final int UNSUPPORTED = 2;
        private static final int REST = 222;

        static AlternatePathResponse to(LoadAlternatePath offer, int status) {
            return new AlternatePathResponse(/* senderId= */ offer.receiverId,
                    /* receiverId= */ offer.senderId, status);
        }

        static AlternatePathResponse decode(ByteBuffer in) {
            return new AlternatePathResponse(in.getInt(), in.getInt(), in.getShort() & 0xff);
        }

        @Override
        public int attribute() {
            return ATTRIBUTE;
        }

        @Override
        public void encode(ByteBuffer out) {
            out.putInt(senderId).putInt(receiverId).put((byte) 0).put((byte) status);
            PrivateData.NONE.encode(out, REST);
        }
    }

    /**
     * Asks for a datagram service (SIDR_REQ).
     *
     * @param requestId the sender's number of the request
     * @param pkey the partition
     * @param serviceId what is asked for
     * @param privateData 216 bytes
     */
    record ServiceRequest(int requestId, int pkey, long serviceId, PrivateData privateData)
            implements
                CmMessage {
        static final int ATTRIBUTE = 0x17;
        static final int PRIVATE_DATA = 216;

        public ServiceRequest {
            privateData.requireAtMost(PRIVATE_DATA);
        }

        static ServiceRequest decode(ByteBuffer in) {
            return new ServiceRequest(in.getInt(), in.getInt() >>> 16, in.getLong(),
                    PrivateData.decode(in, PRIVATE_DATA));
        }

        @Override
        public int attribute() {
            return ATTRIBUTE;
        }

        @Override
        public void encode(ByteBuffer out) {
            out.putInt(requestId).putInt(pkey << 16).putLong(serviceId);
            privateData.encode(out, PRIVATE_DATA);
        }
    }

    /**
     * Answers the look-up of a datagram service (SIDR_REP).
     *
     * @param requestId the requester's number of the request
     * @param status 0 is valid, table 117
     * @param information 72 bytes more about the status
     * @param informationLength how many of them count
     * @param queuePair the queue pair that serves
     * @param serviceId what was asked for
     * @param qkey its Q_Key
     * @param privateData 136 bytes
     */
    record ServiceReply(int requestId, int status, PrivateData information, int informationLength,
            int queuePair, long serviceId, int qkey, PrivateData privateData)
            implements
                CmMessage {
        static final int ATTRIBUTE = 0x18;
        static final int PRIVATE_DATA = 136;
        static final int INFORMATION = 72;

        public ServiceReply {
            privateData.requireAtMost(PRIVATE_DATA);
            information.requireAtMost(INFORMATION);
        }

        static ServiceReply decode(ByteBuffer in) {
            int requestId = in.getInt();
            int status = in.get() & 0xff;
            int informationLength = in.get() & 0xff;
            in.getShort();
            int queuePair = in.getInt() >>> 8;
            long serviceId = in.getLong();
            int qkey = in.getInt();
            return new ServiceReply(requestId, status, PrivateData.decode(in, INFORMATION),
                    informationLength, queuePair, serviceId, qkey,
                    PrivateData.decode(in, PRIVATE_DATA));
        }

        @Override
        public int attribute() {
            return ATTRIBUTE;
        }

        @Override
        public void encode(ByteBuffer out) {
            out.putInt(requestId).put((byte) status).put((byte) informationLength)
                    .putShort((short) 0).putInt(queuePair << 8).putLong(serviceId).putInt(qkey);
            information.encode(out, INFORMATION);
            privateData.encode(out, PRIVATE_DATA);
        }
    }
}
