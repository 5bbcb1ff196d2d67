// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.protocol.ibcm;

import io.rdma4j.connection.ConnectionParameters;
import io.rdma4j.connection.RejectReason;
import io.rdma4j.protocol.ibcm.CmMessage.AlternatePathResponse;
import io.rdma4j.protocol.ibcm.CmMessage.DisconnectReply;
import io.rdma4j.protocol.ibcm.CmMessage.DisconnectRequest;
import io.rdma4j.protocol.ibcm.CmMessage.LoadAlternatePath;
import io.rdma4j.protocol.ibcm.CmMessage.MessageReceipt;
import io.rdma4j.protocol.ibcm.CmMessage.ReadyToUse;
import io.rdma4j.protocol.ibcm.CmMessage.Reject;
import io.rdma4j.protocol.ibcm.CmMessage.Reply;
import io.rdma4j.protocol.ibcm.CmMessage.Request;
import io.rdma4j.protocol.ibcm.CmMessage.ServiceReply;
import io.rdma4j.protocol.ibcm.CmMessage.ServiceRequest;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.Gid;
import io.rdma4j.verbs.Mtu;
import io.rdma4j.verbs.RdmaException;
import org.jspecify.annotations.Nullable;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.function.IntPredicate;
import java.util.function.IntSupplier;

/**
 * The connection manager of one device. One caller at a time; time is an argument.
 *
 * <p>After every call the host polls for messages with {@link #pollTransmit} until there is none, and
 * asks for {@link #deadlineNs}.
 */
public final class IbConnectionManager {
    /** The queue pair that connection managers talk on. Source: IBTA 12.4. */
    public static final int QUEUE_PAIR = 1;
    /** Its Q_Key. Source: IBTA 3.5.3, 13.5.2. */
    public static final int QKEY = 0x8001_0000;
    /** Bytes of a message. */
    public static final int MESSAGE_LENGTH = Mad.LENGTH;

    /** The number of bits of a communication identifier after the prefix. */
    public static final int IDENTIFIER_BITS = CmSending.IDENTIFIER_BITS;
    private final Function<CmPeer, Mtu> largestMtu;
    private final Map<Integer, IbCmConnection> byLocalId = new HashMap<>();
    private final Map<RemoteKey, IbCmConnection> requestsByRemoteId = new HashMap<>();
    private final Map<RemoteKey, IbCmConnection> byRemoteQueuePair = new HashMap<>();
    /** Accepted requests whose RTU has not arrived. */
    private final Map<Integer, IbCmConnection> awaitingReady = new HashMap<>();
    private final List<CmService> services = new ArrayList<>();
    private final CmSending sending;
    private final DatagramServices datagrams;
    private record RemoteKey(Gid address, int number) {}

    /**
     * @param settings how patient it is
     * @param random numbers that others cannot guess, for identifiers and first PSNs
     */
    public IbConnectionManager(CmSettings settings, IntSupplier random) {
        this(settings, random, peer -> Mtu.MTU_4096);
    }

    /**
     * As above for a network whose packets may be small.
     *
     * @param largestMtu the path MTU of the longest packets that can pass between two addresses now
     */
    public IbConnectionManager(CmSettings settings, IntSupplier random,
            Function<CmPeer, Mtu> largestMtu) {
        this.largestMtu = largestMtu;
        sending = new CmSending(settings, random, this::isUsed);
        datagrams = new DatagramServices(sending);
    }

    // ---------------------------------------------------------------- what applications do

    /**
     * Offers connections.
     *
     * @throws RdmaException EADDRINUSE if they are offered already
     */
    public CmService listen(ListenSpec offer, CmService.Handler handler) throws RdmaException {
        for (CmService service : services) {
            service.offer().requireNoConflict(offer);
        }
        CmService service = new CmService(this, offer, handler);
        services.add(service);
        return service;
    }

    /**
     * Offers a datagram service.
     *
     * @throws RdmaException EADDRINUSE if it is offered already
     */
    public DatagramService listenForLookups(ListenSpec offer, DatagramService.Handler handler)
            throws RdmaException {
        return datagrams.listen(offer, handler);
    }

    /** Looks a datagram service up. */
    public DatagramLookup lookUp(ConnectSpec call, DatagramLookup.Events events, long nowNs) {
        return datagrams.lookUp(call, events, nowNs);
    }

    /**
     * Sets where this side's identifiers come from. Must be called before the first connection.
     *
     * @param prefix their first 8 bits, by which the network distinguishes the processes that share an address; 0 for any
     * @param next the other bits, never again what a peer may remember; higher ones are ignored if there is a prefix
     */
    public void identifiers(int prefix, IntSupplier next) {
        sending.identifiers(prefix, next);
    }

    private boolean isUsed(int identifier) {
        return byLocalId.containsKey(identifier) || datagrams.uses(identifier);
    }

    /** Requests a connection. */
    public IbCmConnection connect(ConnectSpec call, IbCmConnection.Events events, long nowNs) {
        IbCmConnection connection = IbCmConnection.active(this, call, events, nowNs);
        byLocalId.put(connection.localId(), connection);
        return connection;
    }

    /** Notifies every peer of the end, once; for the closing of the device. */
    public void closeAll(long nowNs) {
        for (IbCmConnection connection : List.copyOf(byLocalId.values())) {
            connection.close(nowNs);
        }
        datagrams.closeAll(nowNs);
    }

    // ---------------------------------------------------------------- what the wire does

    /**
     * A management datagram arrived.
     *
     * @param mad its 256 bytes, between position and limit
     * @param peer the addresses it travelled between
     * @return false if it is not a message of a connection manager, or of no connection or look-up of this one; it may
     *         have been answered, so that the peer forgets the connection too
     */
    public boolean onMad(ByteBuffer mad, CmPeer peer, long nowNs) {
        CmMessage.Received received = CmMessage.decode(mad);
        if (received == null) {
            return false;
        }
        long transaction = received.transaction();
        return switch (received.message()) {
            case Request request -> {
                onRequest(request, transaction, peer, nowNs);
                yield true;
            }
            case Reply reply -> onReply(reply, transaction, peer, nowNs);
            case ReadyToUse ready -> onReadyToUse(
                    find(ready.receiverId(), ready.senderId(), peer));
            case Reject reject -> onReject(reject, peer, nowNs);
            case MessageReceipt receipt -> onMessageReceipt(receipt, peer, nowNs);
            case DisconnectRequest request ->
                onDisconnectRequest(request, transaction, peer, nowNs);
            case DisconnectReply reply -> onDisconnectReply(
                    find(reply.receiverId(), reply.senderId(), peer), nowNs);
            case LoadAlternatePath offer -> onAlternatePath(offer, transaction, peer);
            // The answer to a message that is never sent here.
            case AlternatePathResponse unasked -> false;
            case ServiceRequest request -> {
                datagrams.onRequest(request, transaction, peer);
                yield true;
            }
            case ServiceReply reply -> datagrams.onReply(reply, peer);
        };
    }

    private void onRequest(Request request, long transaction, CmPeer peer, long nowNs) {
        IbCmConnection repeated = requestsByRemoteId
                .get(new RemoteKey(peer.remote(), request.senderId()));
        if (repeated != null) {
            repeated.onRepeatedRequest();
            return;
        }
        CmService service = service(request.serviceId(), peer.local());
        IpHeader ip = IpHeader.decode(request.privateData().bytes());
        RejectReason refusal = refusal(request, service, ip, peer, nowNs);
        if (refusal != null || service == null || ip == null) {
            refuse(request, refusal == null ? RejectReason.UNSUPPORTED : refusal, PrivateData.NONE,
                    transaction, peer);
            return;
        }
        int largest = largestMtu.apply(peer).code();
        if (request.pathMtu() > largest) {
            // With the acceptable MTU in the upper four bits, as in a request. IBTA 12.6.7.2.
            refuse(request, RejectReason.INVALID_MTU,
                    PrivateData.of(new byte[]{(byte) (largest << 4)}), transaction, peer);
            return;
        }
        IbCmConnection connection = IbCmConnection.passive(this, peer, service, transaction,
                request);
        byLocalId.put(connection.localId(), connection);
        remember(connection);
        connection.listen(service.onRequest(connection, ip.sourcePort(),
                new ConnectionParameters()
                        .privateData(request.privateData().from(IpHeader.LENGTH))
                        .responderResources(request.initiatorDepth())
                        .initiatorDepth(request.responderResources())
                        .flowControl(request.flowControl()).retryCount(request.retryCount())
                        .rnrRetryCount(request.rnrRetryCount())
                        .sharedReceiveQueue(request.sharedReceiveQueue())
                        .queuePairNumber(request.queuePair())));
    }

    private void refuse(Request request, RejectReason reason, PrivateData information,
            long transaction, CmPeer peer) {
        sending.send(peer, transaction,
                new Reject(0, request.senderId(), Reject.OF_REQUEST, reason.code(),
                        information, information.length(), PrivateData.NONE));
    }

    private @Nullable RejectReason refusal(Request request, @Nullable CmService service,
            @Nullable IpHeader ip, CmPeer peer, long nowNs) {
        IbCmConnection stale = byRemoteQueuePair
                .get(new RemoteKey(peer.remote(), request.queuePair()));
        if (stale != null) {
            stale.onStale(nowNs);
            return RejectReason.STALE_CONNECTION;
        }
        if (Mtu.ofCode(request.pathMtu()) == null) {
            return RejectReason.INVALID_MTU;
        }
        if (service == null) {
            return RejectReason.INVALID_SERVICE_ID;
        }
        if (request.transportType() != NegotiatedParameters.transportType(service.offer().type())) {
            return RejectReason.INVALID_TRANSPORT_TYPE;
        }
        if (ip == null) {
            return RejectReason.UNSUPPORTED;
        }
        return service.hasRoom() ? null : RejectReason.NO_RESOURCES;
    }

    private @Nullable CmService service(long id, Gid destination) {
        for (CmService service : services) {
            if (service.offer().serves(id, destination)) {
                return service;
            }
        }
        return null;
    }

    private boolean onReply(Reply reply, long transaction, CmPeer peer, long nowNs) {
        IbCmConnection connection = find(reply.receiverId(), peer);
        if (connection == null || !connection.isActive()) {
            sending.send(peer, transaction,
                    new Reject(reply.receiverId(), reply.senderId(), Reject.OF_REPLY,
                            RejectReason.INVALID_COMMUNICATION_ID.code(), PrivateData.NONE, 0,
                            PrivateData.NONE));
            return false;
        }
        IbCmConnection stale = byRemoteQueuePair
                .get(new RemoteKey(peer.remote(), reply.queuePair()));
        if (stale != null && stale.isConnected() && !connection.knowsPeer()) {
            // The queue pair is connected already: the peer has forgotten with whom. IBTA 12.9.8.3.1.
            stale.onStale(nowNs);
            connection.refuseStale(reply);
        } else {
            connection.onReply(reply);
        }
        return true;
    }

    private static boolean onReadyToUse(@Nullable IbCmConnection connection) {
        if (connection == null) {
            return false;
        }
        connection.onReadyToUse();
        return true;
    }

    private boolean onReject(Reject reject, CmPeer peer, long nowNs) {
        IbCmConnection connection = findAlsoNew(reject.receiverId(), reject.senderId(), peer);
        if (connection == null) {
            return onWithdrawn(reject, peer, nowNs);
        }
        connection.onReject(reject, nowNs);
        return true;
    }

    /** A requester that got no answer withdraws without knowing our identifier. */
    private boolean onWithdrawn(Reject reject, CmPeer peer, long nowNs) {
        IbCmConnection waiting = requestsByRemoteId
                .get(new RemoteKey(peer.remote(), reject.senderId()));
        if (waiting == null || reject.receiverId() != 0) {
            return false;
        }
        waiting.onWithdrawn(reject, nowNs);
        return true;
    }

    private boolean onMessageReceipt(MessageReceipt receipt, CmPeer peer, long nowNs) {
        IbCmConnection connection = findAlsoNew(receipt.receiverId(), receipt.senderId(), peer);
        if (connection == null) {
            return false;
        }
        connection.onMessageReceipt(receipt, nowNs);
        return true;
    }

    private boolean onDisconnectRequest(DisconnectRequest request, long transaction, CmPeer peer,
            long nowNs) {
        IbCmConnection connection = find(request.receiverId(), request.senderId(), peer);
        if (connection != null) {
            return connection.onDisconnectRequest(request, transaction, nowNs);
        }
        if (!byLocalId.containsKey(request.receiverId())) {
            // The connection was forgotten here: confirms, so that the peer may forget it too.
            sending.send(peer, transaction, DisconnectReply.to(request));
        }
        return false;
    }

    private static boolean onDisconnectReply(@Nullable IbCmConnection connection, long nowNs) {
        if (connection == null) {
            return false;
        }
        connection.onDisconnectReply(nowNs);
        return true;
    }

    /** Rejects: between two RoCE addresses there is only one path. */
    private boolean onAlternatePath(LoadAlternatePath offer, long transaction, CmPeer peer) {
        boolean isKnown = find(offer.receiverId(), offer.senderId(), peer) != null;
        sending.send(peer, transaction, AlternatePathResponse.to(offer, isKnown
                ? AlternatePathResponse.UNSUPPORTED
                : AlternatePathResponse.INVALID_COMMUNICATION_ID));
        return isKnown;
    }

    /**
     * A packet of the peer arrived on a queue pair: it replaces an RTU that has not arrived. Source: IBTA 12.9.7.2.
     */
    public void onPeerReady(int queuePair) {
        IbCmConnection connection = awaitingReady.remove(queuePair);
        if (connection != null) {
            connection.onReadyToUse();
        }
    }

    /** {@return the connection of an identifier of ours, if it is with that peer} */
    private @Nullable IbCmConnection find(int localId, CmPeer peer) {
        IbCmConnection connection = byLocalId.get(localId);
        return connection != null && connection.peer().equals(peer) ? connection : null;
    }

    private @Nullable IbCmConnection find(int localId, int remoteId, CmPeer peer) {
        IbCmConnection connection = find(localId, peer);
        return connection != null && connection.remoteId() == remoteId ? connection : null;
    }

    /** As above; also finds a connection whose peer's identifier is not known yet. */
    private @Nullable IbCmConnection findAlsoNew(int localId, int remoteId, CmPeer peer) {
        IbCmConnection connection = find(localId, peer);
        return connection != null && connection.knowsPeer()
                && connection.remoteId() != remoteId ? null : connection;
    }

    // ---------------------------------------------------------------- sending and time

    /** {@return whether {@link #pollTransmit} has a message} */
    public boolean hasOutgoing() {
        return sending.hasOutgoing();
    }

    /**
     * Writes the next message to send.
     *
     * @param out room for {@link #MESSAGE_LENGTH} bytes
     * @return the addresses it travels between, or null if there is none
     */
    public @Nullable CmPeer pollTransmit(ByteBuffer out) {
        return sending.pollTransmit(out);
    }

    /**
     * {@return whether the host should find out, when it sends the last polled message, whether any socket has the
     * destination port} If none has, it calls {@link #onUnreachable(long)}.
     */
    public boolean isAsking() {
        return sending.isAsking();
    }

    /**
     * {@return whether the last polled message begins an exchange} What the system has reported before is not about it: the
     * host takes that first.
     */
    public boolean isBeginning() {
        return sending.isBeginning();
    }

    /** The system reports that no socket has the destination port of the last polled message. */
    public void onUnreachable(long nowNs) {
        sending.onUnreachable(nowNs);
    }

    /**
     * The system reports why packets to a destination do not arrive. Before {@link #onDeadline} the host looks for such
     * reports.
     *
     * @param remote the destination
     * @param why what it reports; ECONNREFUSED if no socket has the port there
     */
    public void onUnreachable(Gid remote, Errno why, long nowNs) {
        sending.onUnreachable(remote, why, nowNs);
    }

    /**
     * The process at the other end has ended, and cannot say so: its connections are over, as with its DREQ, and those that it has accepted do not come to stand.
     *
     * @param remote its address
     * @param hadQueuePair whether it had the queue pair of a number there
     */
    public void onPeerEnded(Gid remote, IntPredicate hadQueuePair, long nowNs) {
        for (IbCmConnection connection : List.copyOf(byLocalId.values())) {
            if (connection.isTowards(remote) && connection.knowsPeer()
                    && hadQueuePair.test(connection.remoteQueuePair())) {
                connection.onPeerEnded(nowNs);
            }
        }
    }

    /** {@return the IP traffic class of the message that was polled last: that of its connection} */
    public int trafficClass() {
        return sending.trafficClass();
    }

    /** {@return when to call {@link #onDeadline}, {@link Long#MAX_VALUE} for never} */
    public long deadlineNs() {
        return sending.deadlineNs();
    }

    /**
     * The deadline has passed.
     *
     * @return whether a message of this side was not answered in time, and is sent again or given up
     */
    public boolean onDeadline(long nowNs) {
        return sending.onDeadline(nowNs);
    }

    // ---------------------------------------------------------------- for connections

    /** {@return what its connections and look-ups send by and wait by} */
    CmSending sending() {
        return sending;
    }

    /** The peer's identifier and queue pair are known. */
    void remember(IbCmConnection connection) {
        Gid remote = connection.peer().remote();
        if (!connection.isActive()) {
            requestsByRemoteId.put(new RemoteKey(remote, connection.remoteId()), connection);
        }
        byRemoteQueuePair.put(new RemoteKey(remote, connection.remoteQueuePair()), connection);
    }

    void expectReady(IbCmConnection connection) {
        awaitingReady.put(connection.localQueuePair(), connection);
    }

    void forget(IbCmConnection connection) {
        awaitingReady.remove(connection.localQueuePair(), connection);
        Gid remote = connection.peer().remote();
        byLocalId.remove(connection.localId(), connection);
        requestsByRemoteId.remove(new RemoteKey(remote, connection.remoteId()), connection);
        byRemoteQueuePair.remove(new RemoteKey(remote, connection.remoteQueuePair()),
                connection);
    }

    void remove(CmService service) {
        services.remove(service);
    }

    /** {@return connections in any state, look-ups of others included} */
    int connectionCount() {
        return byLocalId.size() + datagrams.requestCount();
    }
}
