// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.ibverbs.device;

import io.rdma4j.device.AsyncEventSource;
import io.rdma4j.device.DeviceEventChannel;
import io.rdma4j.ibverbs.abi.Layout;
import io.rdma4j.ibverbs.abi.Layout.Context;
import io.rdma4j.ibverbs.abi.Library;
import io.rdma4j.ibverbs.abi.Native;
import io.rdma4j.ibverbs.abi.Outcome;
import io.rdma4j.ibverbs.abi.VerbsSymbol;
import io.rdma4j.ibverbs.event.EventLoop;
import io.rdma4j.spi.IdTable;
import io.rdma4j.verbs.AsyncEventType;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.RdmaException;
import org.jspecify.annotations.Nullable;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The events of an open device: its own thread reads the library's events, acknowledges them at once, and notifies the
 * objects that they concern. All completion queues share one completion channel of the library.
 */
public final class DeviceEvents {
    private final ContextServices services;
    private final Library<VerbsSymbol> verbs;
    private final long channel;
    private final int asyncDescriptor;
    private final int channelDescriptor;
    private final EventLoop loop;
    private final RegionWatch regionWatch;
    private final Map<Long, CompletionEventTarget> completionQueues = new ConcurrentHashMap<>();
    private final Map<Long, AsyncEventTarget> queuePairs = new ConcurrentHashMap<>();
    /** Changed under the context's lock. */
    private final IdTable<QueuePair> queuePairsByNumber = new IdTable<>();
    private final Map<Long, AsyncEventTarget> sharedReceiveQueues = new ConcurrentHashMap<>();
    private final DeviceEventChannel asyncEventChannel;
    private final AsyncEventSource portEvents;

    /** @throws RdmaException if the process has no descriptors for it; nothing stays open then */
    DeviceEvents(ContextServices services, NativeLibraries libraries) throws RdmaException {
        this.services = services;
        verbs = services.verbs();
        asyncEventChannel = new DeviceEventChannel(services.device().name());
        portEvents = newSource(null);
        asyncDescriptor = Native.getInt(Native.at(services.pointer(), Context.SIZE),
                Context.ASYNC_FD);
        channel = verbs.get(VerbsSymbol.CREATE_COMP_CHANNEL).call(services.pointer()).pointer(
                "open device", "the device gives no completion channel; raise ulimit -n");
        boolean isStarted = false;
        try {
            channelDescriptor = Native.getInt(Native.at(channel, Layout.CompletionChannel.SIZE),
                    Layout.CompletionChannel.FD);
            loop = new EventLoop(libraries.system(), "rdma4j-" + services.device().name());
            regionWatch = new RegionWatch(loop);
            isStarted = true;
        } finally {
            if (!isStarted) {
                verbs.get(VerbsSymbol.DESTROY_COMP_CHANNEL).call(channel);
            }
        }
    }

    /** Reads events from now on. */
    public void start() {
        loop.add(asyncDescriptor, this::readAsyncEvent);
        loop.add(channelDescriptor, this::readCompletionEvent);
    }

    /** {@return the library's completion channel, of all queues} */
    public long channel() {
        return channel;
    }

    /** {@return the completion queues by the addresses of their {@code ibv_cq}} */
    public Map<Long, CompletionEventTarget> completionQueues() {
        return completionQueues;
    }

    /** {@return the queue pairs by the addresses of their {@code ibv_qp}} */
    public Map<Long, AsyncEventTarget> queuePairs() {
        return queuePairs;
    }

    /** {@return the queue pair of this context with a number, null if there is none} For any thread. */
    public @Nullable QueuePair queuePair(int number) {
        return queuePairsByNumber.find(number);
    }

    /** A queue pair was made. Under the context's lock. */
    public void add(QueuePair queuePair) {
        queuePairsByNumber.put(queuePair.number(), queuePair);
    }

    /** A queue pair was closed, whose number another one may have by now. Under the context's lock. */
    public void forget(QueuePair queuePair) {
        if (queuePair.equals(queuePairsByNumber.find(queuePair.number()))) {
            queuePairsByNumber.remove(queuePair.number());
        }
    }

    /** {@return the shared receive queues by the addresses of their {@code ibv_srq}} */
    public Map<Long, AsyncEventTarget> sharedReceiveQueues() {
        return sharedReceiveQueues;
    }

    /** {@return the watch over regions whose arenas can be closed} */
    public RegionWatch regionWatch() {
        return regionWatch;
    }

    public AsyncEventSource newSource(@Nullable Object subject) {
        return new AsyncEventSource(asyncEventChannel, services.device().name(), subject);
    }

    /** {@return the channel on which the application waits for asynchronous events} */
    public DeviceEventChannel asyncEventChannel() {
        return asyncEventChannel;
    }

    private void readCompletionEvent() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment found = arena.allocate(2 * Long.BYTES, Long.BYTES);
            Outcome outcome = verbs.get(VerbsSymbol.GET_CQ_EVENT).call(channel,
                    found.address(), found.address() + Long.BYTES);
            if (outcome.value() != 0) {
                return;
            }
            long queue = Native.getLong(found, 0);
            CompletionEventTarget known = completionQueues.get(queue);
            verbs.get(VerbsSymbol.ACK_CQ_EVENTS).call(queue, 1);
            if (known != null) {
                known.onEvent();
            }
        }
    }

    private void readAsyncEvent() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment event = arena.allocate(Layout.AsyncEvent.SIZE + Layout.SLACK, 8);
            if (verbs.get(VerbsSymbol.GET_ASYNC_EVENT).call(services.pointer(), event.address())
                    .value() != 0) {
                return;
            }
            long element = Native.getLong(event, Layout.AsyncEvent.ELEMENT);
            int code = Native.getInt(event, Layout.AsyncEvent.EVENT_TYPE);
            AsyncEventType type = AsyncEventType.ofCode(code);
            // Found first: after the acknowledgement the object may be freed, and another one get its address.
            AsyncEventTarget concerned = target(type, code, element);
            verbs.get(VerbsSymbol.ACK_ASYNC_EVENT).call(event.address());
            if (concerned != null) {
                concerned.onAsyncEvent(type);
            }
        }
    }

    /** {@return whom an event is about, null if it is closed} */
    private @Nullable AsyncEventTarget target(AsyncEventType type, int code,
            long element) {
        return switch (type) {
            case CQ_ERROR -> completionQueues.get(element);
            case SRQ_ERROR, SRQ_LIMIT_REACHED -> sharedReceiveQueues.get(element);
            case QP_FATAL, QP_REQUEST_ERROR, QP_ACCESS_ERROR, COMMUNICATION_ESTABLISHED,
                    SEND_QUEUE_DRAINED, PATH_MIGRATED, PATH_MIGRATION_ERROR,
                    QP_LAST_WQE_REACHED ->
                queuePairs.get(element);
            case PORT_ACTIVE, PORT_ERROR, LID_CHANGE, PKEY_CHANGE, SM_CHANGE, CLIENT_REREGISTER,
                    GID_CHANGE, DEVICE_SPEED_CHANGE ->
                ofPort -> portEvents.publish(ofPort, (int) element);
            // It names nothing, or a work queue, which nobody here has.
            case DEVICE_FATAL, WQ_FATAL -> ofDevice -> portEvents.publish(ofDevice, 0);
            case UNKNOWN -> _ -> portEvents.publishUnknown(code);
        };
    }

    /** Wakes a thread that waits for an asynchronous event, and ends the device's thread. */
    public void close(String operation) throws RdmaException {
        asyncEventChannel.end();
        try (Closing _ = () -> destroyChannel(operation);
                Closing _ = loop::close;
                Closing _ = () -> loop.remove(channelDescriptor)) {
            loop.remove(asyncDescriptor);
        }
    }

    private void destroyChannel(String operation) throws RdmaException {
        verbs.get(VerbsSymbol.DESTROY_COMP_CHANNEL).call(channel).check(operation,
                "its completion channel could not be freed");
    }
}
