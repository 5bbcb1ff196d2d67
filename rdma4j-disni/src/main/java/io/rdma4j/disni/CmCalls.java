// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.disni;

import io.rdma4j.cm.CmEvent;
import io.rdma4j.cm.CmEventChannel;
import io.rdma4j.cm.CmId;
import io.rdma4j.connection.ConnectionParameters;
import io.rdma4j.connection.PortSpace;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.QueuePairCapabilities;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.RdmaException;
import org.jspecify.annotations.Nullable;

import java.net.InetSocketAddress;
import java.time.Duration;

/** The calls of the connection manager. Thread safe as librdmacm is. */
public final class CmCalls {
    private static final String ID = "id";
    private static final String CHANNEL = "event channel";
    /** {@code IBV_QPT_RC}. */
    private static final int RELIABLE_CONNECTION = 2;
    /** libdisni asks for so many, whatever its program says. */
    private static final int ELEMENTS = 4;

    private final Handles handles;
    private final Devices devices;
    private final DeferredClosing closing;
    private final Retries retries = Retries.ofProperty();

    record Channel(CmEventChannel events, Waiting<CmEvent> waiting) {}

    /** An id, with the number of its queue pair. */
    static final class Id {
        final CmId id;
        volatile long queuePair = Handles.NONE;

        Id(CmId id) {
            this.id = id;
        }
    }

    CmCalls(Handles handles, Devices devices, DeferredClosing closing) {
        this.handles = handles;
        this.devices = devices;
        this.closing = closing;
    }

    /** C: {@code rdma_create_event_channel}. */
    public long createEventChannel() {
        CmEventChannel events = CmEventChannel.create();
        return handles.add(new Channel(events, new Waiting<>(events)));
    }

    /** C: {@code rdma_destroy_event_channel}, which does not mind ids that use it: it is closed after them. */
    public int destroyEventChannel(long channel) {
        return Refusals.returned("destroy event channel", () -> {
            CmEventChannel events = handles.remove(channel, Channel.class, CHANNEL).events;
            closing.close(events, events::close);
        });
    }

    /** C: {@code rdma_create_id}, of {@code RDMA_PS_TCP}: libdisni knows no other. */
    public long createId(long channel) throws RdmaException {
        CmEventChannel events = handles.find(channel, Channel.class, CHANNEL).events;
        return added(CmId.create(events, PortSpace.TCP));
    }

    /** {@return the number of an id, by which its events find it} */
    private long added(CmId id) {
        long handle = handles.add(new Id(id));
        id.userContext(handle);
        return handle;
    }

    /** C: {@code rdma_destroy_id}, {@code rdma_destroy_ep}. */
    public int destroyId(long id) {
        return Refusals.returned("destroy id", () -> {
            Id removed = handles.remove(id, Id.class, ID);
            forgetQueuePair(removed);
            closing.close(removed.id, removed.id::close);
        });
    }

    private void forgetQueuePair(Id id) throws RdmaException {
        long queuePair = id.queuePair;
        if (queuePair != Handles.NONE) {
            id.queuePair = Handles.NONE;
            handles.remove(queuePair, PostedQueuePair.class, VerbsCalls.QUEUE_PAIR);
        }
    }

    private CmId id(long handle) throws RdmaException {
        return handles.find(handle, Id.class, ID).id;
    }

    /** C: {@code rdma_bind_addr}. */
    public void bindAddress(long id, long address) throws RdmaException {
        CmId bound = id(id);
        Refusals.thrown("bind address",
                () -> bound.bindAddress(CallMemory.readAddress(address)));
    }

    /** C: {@code rdma_listen}. */
    public void listen(long id, int backlog) throws RdmaException {
        CmId listening = id(id);
        Refusals.thrown("listen", () -> listening.listen(backlog));
    }

    /**
     * C: {@code rdma_resolve_addr}.
     *
     * @param source 0 for none
     */
    public void resolveAddress(long id, long source, long destination, int milliseconds)
            throws RdmaException {
        CmId resolved = id(id);
        Refusals.thrown("resolve address", () -> resolved.resolveAddress(
                source == 0 ? null : CallMemory.readAddress(source),
                CallMemory.readAddress(destination), Duration.ofMillis(milliseconds)));
    }

    /** C: {@code rdma_resolve_route}. */
    public void resolveRoute(long id, int milliseconds) throws RdmaException {
        CmId resolved = id(id);
        Refusals.thrown("resolve route",
                () -> resolved.resolveRoute(Duration.ofMillis(milliseconds)));
    }

    /**
     * Waits for an event, and acknowledges it at once. C: {@code rdma_get_cm_event}, {@code rdma_ack_cm_event}.
     *
     * @param listenId where the number of the id that listens is written, −1 if none does
     * @param id where that of the id is written, which is new for a request
     * @param milliseconds less than 0 for any time
     * @return the number of the event's type, −1 if none comes in time or the channel is closed
     */
    public int nextEvent(long channel, long listenId, long id, int milliseconds) {
        try {
            Channel awaited = handles.find(channel, Channel.class, CHANNEL);
            CmEvent event = awaited.waiting.poll(milliseconds);
            return event == null ? Refusals.FAILED : written(event, listenId, id);
        } catch (RdmaException e) {
            return Refusals.FAILED;
        }
    }

    /** {@return the number of an event's type} It is acknowledged. */
    private int written(CmEvent event, long listenId, long id) {
        CmId listening = event.listenId();
        try (event) {
            CallMemory.writeLong(listenId, listening == null ? Handles.NONE : handleOf(listening));
            CallMemory.writeLong(id,
                    listening == null ? handleOf(event.id()) : added(event.id()));
            return event.typeCode();
        } finally {
            closing.onAcknowledged(event.id());
            if (listening != null) {
                closing.onAcknowledged(listening);
            }
        }
    }

    private static long handleOf(CmId id) {
        return id.userContext() instanceof Long handle ? handle : Handles.NONE;
    }

    /**
     * C: {@code rdma_connect}.
     *
     * @param privateData where the bytes for the peer are, 0 for none
     */
    public void connect(long id, int retryCount, int rnrRetryCount, long privateData, int length)
            throws RdmaException {
        CmId connected = id(id);
        ConnectionParameters parameters = parameters(retryCount, rnrRetryCount);
        if (privateData != 0 && length != 0) {
            parameters.privateData(CallMemory.bytes(privateData, length & 0xff));
        }
        Refusals.thrown("connect", () -> connected.connect(parameters));
    }

    /** C: {@code rdma_accept}. */
    public void accept(long id, int retryCount, int rnrRetryCount) throws RdmaException {
        CmId accepted = id(id);
        Refusals.thrown("accept", () -> accepted.accept(parameters(retryCount, rnrRetryCount)));
    }

    /** As many READs and atomics as the device can have, which is what new parameters ask for. */
    private ConnectionParameters parameters(int retryCount, int rnrRetryCount) {
        return new ConnectionParameters().retryCount(retries.of(retryCount))
                .rnrRetryCount(retries.of(rnrRetryCount));
    }

    /** C: {@code rdma_disconnect}. */
    public int disconnect(long id) {
        return Refusals.returned("disconnect", () -> id(id).disconnect());
    }

    /** Writes where the id is. C: {@code rdma_get_local_addr}. */
    public int localAddress(long id, long address) {
        return Refusals.returned("get source address", () -> {
            CmId asked = id(id);
            writeAddress(address, known(asked::localAddress));
        });
    }

    /** Writes where the peer is. C: {@code rdma_get_peer_addr}. */
    public int peerAddress(long id, long address) {
        return Refusals.returned("get destination address", () -> {
            CmId asked = id(id);
            writeAddress(address, known(asked::peerAddress));
        });
    }

    /** {@return the address, or null of an id that has none yet} */
    private static @Nullable InetSocketAddress known(Refusals.Call<InetSocketAddress> address)
            throws RdmaException {
        try {
            return address.run();
        } catch (IllegalStateException e) {
            return null;
        }
    }

    private static void writeAddress(long address, @Nullable InetSocketAddress value) {
        if (value == null) {
            CallMemory.writeNoAddress(address);
        } else {
            CallMemory.writeAddress(address, value);
        }
    }

    /**
     * {@return the number of the device of an id} C: {@code id->verbs}.
     *
     * @throws RdmaException EINVAL if it has none, as one that is bound to the wildcard address
     */
    public long context(long id) throws RdmaException {
        CmId asked = id(id);
        try {
            return devices.handleOf(asked.context());
        } catch (IllegalStateException e) {
            throw new RdmaException(Errno.EINVAL, "get context",
                    "the id has no device: DiSNI needs one address of this host, such as"
                            + " 10.0.0.1, not the wildcard address 0.0.0.0, nor none",
                    e);
        }
    }

    /**
     * Creates the queue pair of an id. C: {@code rdma_create_qp}.
     *
     * @return its number
     */
    public long createQueuePair(long id, long domain, long sendQueue, long receiveQueue, int type,
            int sends, int receives, int inlineBytes) throws RdmaException {
        if (type != RELIABLE_CONNECTION) {
            throw RdmaException.unsupported("create queue pair",
                    "DiSNI has reliable connections alone, which are type " + RELIABLE_CONNECTION
                            + ", not " + type);
        }
        Id owner = handles.find(id, Id.class, ID);
        ProtectionDomain in = handles.find(domain, ProtectionDomain.class,
                VerbsCalls.PROTECTION_DOMAIN);
        CompletionQueue forSends = VerbsCalls.queue(handles, sendQueue);
        CompletionQueue forReceives = VerbsCalls.queue(handles, receiveQueue);
        return Refusals.thrown("create queue pair", () -> {
            QueuePairInitAttributes attributes = new QueuePairInitAttributes()
                    .sendCompletionQueue(forSends).receiveCompletionQueue(forReceives)
                    .capabilities(new QueuePairCapabilities(sends, receives, ELEMENTS, ELEMENTS,
                            inlineBytes));
            long handle = handles
                    .add(new PostedQueuePair(owner.id.createQueuePair(in, attributes)));
            owner.queuePair = handle;
            return handle;
        });
    }

    /** C: {@code rdma_destroy_qp}. */
    public int destroyQueuePair(long id) {
        return Refusals.returned("destroy queue pair", () -> {
            Id owner = handles.find(id, Id.class, ID);
            forgetQueuePair(owner);
            closing.close(owner.id, owner.id::closeQueuePair);
        });
    }
}
