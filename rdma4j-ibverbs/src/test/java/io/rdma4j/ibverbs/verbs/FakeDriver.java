// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.ibverbs.verbs;

import io.rdma4j.ibverbs.abi.ContextOperation;
import io.rdma4j.ibverbs.abi.FakeLibrary;
import io.rdma4j.ibverbs.abi.Layout;
import io.rdma4j.ibverbs.abi.Native;
import io.rdma4j.ibverbs.abi.VerbsSymbol;
import io.rdma4j.ibverbs.device.NativeLibraries;
import io.rdma4j.ibverbs.observe.KernelCounters;
import io.rdma4j.testkit.ListedDevice;
import io.rdma4j.verbs.AddressHandleAttributes;
import io.rdma4j.verbs.AsyncEventType;
import io.rdma4j.verbs.DeviceKind;
import io.rdma4j.verbs.Gid;
import io.rdma4j.verbs.Mtu;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.QueuePairState;
import io.rdma4j.verbs.QueuePairType;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.TransportType;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.net.InetAddress;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

/**
 * A libibverbs and the driver of one device, both made of Java: they answer, note what they were asked, and fail when they
 * are told to. Objects are memory that is never freed while a test runs. Destroying one of which events were read waits until
 * they are acknowledged, as the library does.
 */
final class FakeDriver implements AutoCloseable {
    private static final int FRONT = 400;
    private static final int BEHIND = 400;
    private static final long LIBRARY = 648;
    private static final int NON_BLOCKING = 0x800;
    private static final int BIND_MW = 8;
    private static final long PATIENCE_NS = TimeUnit.SECONDS.toNanos(20);

    final FakeLibrary library = new FakeLibrary(List.of(VerbsSymbol.values()));
    /** How often each function was called. */
    final Map<VerbsSymbol, Integer> calls = new EnumMap<>(VerbsSymbol.class);
    /** What the next calls of functions that free or change something return. */
    final Map<VerbsSymbol, Integer> failures = new EnumMap<>(VerbsSymbol.class);
    /** Copies of the requests that were posted, each with its elements behind it. */
    final List<MemorySegment> posted = new ArrayList<>();
    /** How many calls posted. */
    int posts;
    /** What the next poll gives. */
    final List<MemorySegment> completions = new ArrayList<>();
    /** What the device can do, as {@code device_cap_flags}. */
    int capabilities;
    /** How far its atomics are atomic, as {@code enum ibv_atomic_cap}; 0 for a device without. */
    int atomics = 1;
    /** A copy of the attributes of the queue pair that was created last. */
    MemorySegment queuePairAttributes = MemorySegment.NULL;
    /** What polling answers instead, if it is not 0. */
    int pollAnswer;
    /** The receives that it reports of a new queue pair, none unless asked to. */
    int toldReceives;
    /** Which request of a chain is refused, and with what; none if the answer is 0. */
    int refusedIndex;
    int postAnswer;
    /** Whether the driver keeps what it refuses, and names no refused request, as siw does when a connection ends. */
    boolean keepsRefused;
    /** What happens after a post has begun and before the driver follows its pointers. */
    Runnable whilePosting = () -> {
        // Nothing.
    };
    /** What happens after the driver has taken its completions for a poll, and before the poll returns. */
    Runnable whilePolling = () -> {
        // Nothing.
    };
    TransportType transport = TransportType.INFINIBAND;
    /** What the device says of itself. */
    int vendorId;
    /** The device's name. */
    String name = "fake0";
    /** Where the kernel describes the device. */
    Path kernelFolder = Path.of("no such folder");
    private final AtomicInteger entered = new AtomicInteger();
    private final Map<VerbsSymbol, FakeLibrary.Function> others = new EnumMap<>(
            VerbsSymbol.class);
    private final Set<Long> freed = ConcurrentHashMap.newKeySet();
    /** How many events were read about each object. */
    private final Map<Long, Integer> unacknowledged = new HashMap<>();
    private final Set<Long> ofDatagrams = ConcurrentHashMap.newKeySet();
    private final Arena arena = Arena.ofShared();
    private final MemorySegment memory = arena.allocate(FRONT + BEHIND, 64);
    private final int asyncDescriptor = eventDescriptor();
    private final int channelDescriptor = eventDescriptor();
    private long announced;
    private long queueToAnnounce;
    private long reportedElement;
    private int reportedType;
    private int nextNumber = 0x11;

    FakeDriver() {
        for (VerbsSymbol symbol : VerbsSymbol.values()) {
            library.define(symbol, arguments -> answer(symbol, arguments));
        }
        put(Layout.Context.EXTENSION_SIZE, LIBRARY);
        put(Layout.Context.ABI_COMPAT, -1);
        Native.putInt(memory, FRONT + Layout.Context.ASYNC_FD, asyncDescriptor);
        Native.putInt(memory, FRONT + Layout.Context.COMPLETION_VECTORS, 1);
        operation(ContextOperation.POLL_CQ, this::poll);
        operation(ContextOperation.REQ_NOTIFY_CQ, arguments -> {
            requireAlive("completion queue", arguments[0]);
            announced++;
            return 0;
        });
        operation(ContextOperation.POST_SEND, arguments -> {
            whilePosting.run();
            return post(arguments, Layout.SendRequest.SIZE);
        });
        operation(ContextOperation.POST_RECV, arguments -> {
            whilePosting.run();
            return post(arguments, Layout.ReceiveRequest.SIZE);
        });
        operation(ContextOperation.POST_SRQ_RECV,
                arguments -> post(arguments, Layout.ReceiveRequest.SIZE));
    }

    /** Puts a word in front of or behind the address of the context. */
    void put(long offset, long value) {
        Native.putLong(memory, FRONT + offset, value);
    }

    void operation(ContextOperation operation, FakeLibrary.Function function) {
        put(operation.offset(), library.stub(operation.signature(), arguments -> {
            entered.incrementAndGet();
            return function.call(arguments);
        }).address());
    }

    /** {@return how often anything of the library or the driver was called} */
    int entered() {
        return entered.get();
    }

    long context() {
        return memory.address() + FRONT;
    }

    NativeContext open() throws RdmaException {
        return open(Map.of(), (_, _) -> null);
    }

    /** @param addresses its addresses, each with its port */
    NativeContext open(Map<InetAddress, Integer> addresses, ConnectionManager manager)
            throws RdmaException {
        return new NativeContext(new ListedDevice(name, DeviceKind.NATIVE, transport),
                NativeLibraries.of(library.lookup(),
                        FakeLibrary.system()),
                context(), () -> addresses, manager,
                new KernelCounters(kernelFolder));
    }

    /** Takes a queue pair to where it can send. */
    static void ready(QueuePair queuePair) throws RdmaException {
        if (queuePair.type() == QueuePairType.UD) {
            queuePair.modify(new QueuePairAttributes().state(QueuePairState.INIT).pkeyIndex(0)
                    .port(1).qkey(5));
            queuePair.modify(new QueuePairAttributes().state(QueuePairState.RTR));
            queuePair.modify(new QueuePairAttributes().state(QueuePairState.RTS).sendPsn(1));
            return;
        }
        queuePair.modify(new QueuePairAttributes().state(QueuePairState.INIT).pkeyIndex(0)
                .port(1).accessFlags(Set.of()));
        queuePair.modify(new QueuePairAttributes().state(QueuePairState.RTR)
                .addressVector(AddressHandleAttributes.to(Gid.ZERO, 0)).pathMtu(Mtu.MTU_1024)
                .destinationQueuePairNumber(7).receivePsn(1).maxDestinationReadAtomic(1)
                .minRnrTimerCode(1));
        queuePair.modify(new QueuePairAttributes().state(QueuePairState.RTS).sendPsn(1)
                .ackTimeoutExponent(14).retryCount(7).rnrRetry(7).maxReadAtomic(1));
    }

    synchronized int called(VerbsSymbol symbol) {
        return calls.getOrDefault(symbol, 0);
    }

    /** Has a function do something else from now on, also for a library that is loaded. */
    synchronized void instead(VerbsSymbol symbol, FakeLibrary.Function function) {
        others.put(symbol, function);
    }

    private synchronized long answer(VerbsSymbol symbol, long[] arguments) {
        entered.incrementAndGet();
        calls.merge(symbol, 1, Integer::sum);
        FakeLibrary.Function other = others.get(symbol);
        if (other != null) {
            return other.call(arguments);
        }
        Integer failure = failures.get(symbol);
        if (failure != null) {
            boolean isPointer = symbol.signature().descriptor().returnLayout().equals(
                    Optional.of(JAVA_LONG));
            return isPointer ? FakeLibrary.fail(failure) + 1 : failure;
        }
        return switch (symbol) {
            case QUERY_DEVICE -> {
                MemorySegment attributes = Native.at(arguments[1], Layout.DeviceAttr.SIZE);
                Native.putInt(attributes, Layout.DeviceAttr.VENDOR_ID, vendorId);
                Native.putInt(attributes, Layout.DeviceAttr.DEVICE_CAP_FLAGS, capabilities);
                Native.putInt(attributes, Layout.DeviceAttr.ATOMIC_CAP, atomics);
                yield 0;
            }
            case ALLOC_PD, CREATE_AH -> object(64);
            case CREATE_COMP_CHANNEL -> {
                long channel = object(Layout.CompletionChannel.SIZE);
                Native.putInt(Native.at(channel, Layout.CompletionChannel.SIZE),
                        Layout.CompletionChannel.FD, channelDescriptor);
                yield channel;
            }
            case CREATE_CQ -> {
                queueToAnnounce = object(128);
                Native.putInt(Native.at(queueToAnnounce, 128), Layout.CompletionQueue.CQE,
                        (int) arguments[1]);
                yield queueToAnnounce;
            }
            case CREATE_QP -> {
                queuePairAttributes = copy(arguments[1], Layout.QueuePairInitAttr.SIZE);
                if (toldReceives != 0) {
                    Native.putInt(Native.at(arguments[1], Layout.QueuePairInitAttr.SIZE),
                            Layout.QueuePairInitAttr.MAX_RECV_WR, toldReceives);
                }
                long queuePair = object(160);
                if (Native.getInt(queuePairAttributes,
                        Layout.QueuePairInitAttr.QP_TYPE) == QueuePairType.UD.code()) {
                    ofDatagrams.add(queuePair);
                }
                Native.putInt(Native.at(queuePair, 160), Layout.QueuePair.QP_NUM, nextNumber++);
                yield queuePair;
            }
            case CREATE_SRQ -> object(128);
            case REG_MR_IOVA2 -> {
                long region = object(Layout.MemoryRegion.SIZE);
                Native.putInt(Native.at(region, Layout.MemoryRegion.SIZE),
                        Layout.MemoryRegion.LKEY, nextNumber++ << 8);
                yield region;
            }
            case GET_CQ_EVENT -> {
                Native.putLong(Native.at(arguments[1], Long.BYTES), 0, queueToAnnounce);
                yield drain(channelDescriptor) ? handOut(queueToAnnounce) : FakeLibrary.fail(11);
            }
            case GET_ASYNC_EVENT -> {
                Native.putLong(Native.at(arguments[1], Layout.AsyncEvent.SIZE),
                        Layout.AsyncEvent.ELEMENT, reportedElement);
                Native.putInt(Native.at(arguments[1], Layout.AsyncEvent.SIZE),
                        Layout.AsyncEvent.EVENT_TYPE, reportedType);
                yield drain(asyncDescriptor) ? handOut(reportedElement) : FakeLibrary.fail(11);
            }
            case ACK_CQ_EVENTS -> acknowledge(arguments[0], (int) arguments[1]);
            case ACK_ASYNC_EVENT -> acknowledge(
                    Native.getLong(Native.at(arguments[0], Layout.AsyncEvent.SIZE),
                            Layout.AsyncEvent.ELEMENT),
                    1);
            case DESTROY_CQ, DESTROY_QP, DESTROY_SRQ -> {
                awaitAcknowledged(arguments[0]);
                free(arguments[0]);
                yield 0;
            }
            case DEALLOC_PD, DEREG_MR, DESTROY_AH -> {
                free(arguments[0]);
                yield 0;
            }
            case MODIFY_QP, QUERY_QP, RESIZE_CQ, MODIFY_SRQ, QUERY_SRQ, REREG_MR -> {
                requireAlive("object of " + symbol.symbol(), arguments[0]);
                yield 0;
            }
            default -> 0;
        };
    }

    /** An event about an object, or a port, was read. */
    private long handOut(long element) {
        unacknowledged.merge(element, 1, Integer::sum);
        return 0;
    }

    private long acknowledge(long element, int events) {
        int left = unacknowledged.getOrDefault(element, 0) - events;
        if (left < 0) {
            throw new IllegalStateException("more events were acknowledged than there were");
        }
        unacknowledged.put(element, left);
        notifyAll();
        return 0;
    }

    /** As the library, which waits for ever. */
    private void awaitAcknowledged(long object) {
        long begunNs = System.nanoTime();
        while (unacknowledged.getOrDefault(object, 0) > 0) {
            if (System.nanoTime() - begunNs > PATIENCE_NS) {
                throw new IllegalStateException(
                        "destroying an object waits for an event that nobody acknowledges");
            }
            try {
                wait(100);
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }
    }

    /** An object of the library is gone. */
    void free(long object) {
        if (!freed.add(object)) {
            throw new IllegalStateException("an object was freed twice");
        }
    }

    void requireAlive(String what, long object) {
        if (object == 0 || freed.contains(object)) {
            throw new IllegalStateException("the " + what + " is "
                    + (object == 0 ? "a null pointer" : "freed"));
        }
    }

    /** {@return the address of memory for an object of the library} */
    long object(long size) {
        return arena.allocate(size, 8).address();
    }

    private synchronized long poll(long[] arguments) {
        requireAlive("completion queue", arguments[0]);
        if (pollAnswer != 0) {
            return pollAnswer;
        }
        int count = (int) Math.min(arguments[1], completions.size());
        for (int i = 0; i < count; i++) {
            MemorySegment.copy(completions.removeFirst(), 0,
                    Native.at(arguments[2] + i * Layout.WorkCompletion.SIZE,
                            Layout.WorkCompletion.SIZE),
                    0, Layout.WorkCompletion.SIZE);
        }
        whilePolling.run();
        return count;
    }

    private synchronized long post(long[] arguments, long size) {
        requireAlive("queue", arguments[0]);
        posts++;
        long request = arguments[1];
        for (int i = 0; request != 0; i++) {
            if (postAnswer != 0 && i == refusedIndex && !keepsRefused) {
                Native.putLong(Native.at(arguments[2], Long.BYTES), 0, request);
                return postAnswer;
            }
            MemorySegment copied = copy(request, size);
            if (size == Layout.SendRequest.SIZE) {
                follow(arguments[0], copied);
            }
            posted.add(copied);
            request = Native.getLong(copied, Layout.ReceiveRequest.NEXT);
        }
        return keepsRefused ? postAnswer : 0;
    }

    /** Looks at what a driver reads by the pointers of a send request. */
    private void follow(long queuePair, MemorySegment request) {
        if (ofDatagrams.contains(queuePair)) {
            requireAlive("address handle", Native.getLong(request, Layout.SendRequest.AH));
        }
        if (Native.getInt(request, Layout.SendRequest.OPCODE) == BIND_MW) {
            requireAlive("window", Native.getLong(request, Layout.SendRequest.BIND_MW));
            requireAlive("region", Native.getLong(request, Layout.SendRequest.BIND_INFO));
        }
    }

    MemorySegment copy(long address, long size) {
        MemorySegment copied = arena.allocate(size, 8);
        copied.copyFrom(Native.at(address, size));
        return copied;
    }

    /** {@return an element of a request that was posted} */
    MemorySegment element(MemorySegment request, int index) {
        return Native.at(Native.getLong(request, Layout.SendRequest.SG_LIST)
                + index * Layout.Element.SIZE, Layout.Element.SIZE);
    }

    /** The next poll gives a completion of a request. */
    MemorySegment complete(long workRequestId, int status, int opcode) {
        MemorySegment completion = arena.allocate(Layout.WorkCompletion.SIZE, 8);
        Native.putLong(completion, Layout.WorkCompletion.WR_ID, workRequestId);
        Native.putInt(completion, Layout.WorkCompletion.STATUS, status);
        Native.putInt(completion, Layout.WorkCompletion.OPCODE, opcode);
        completions.add(completion);
        return completion;
    }

    /** The next polls give successful completions of all that was posted so far, which is forgotten. */
    synchronized void completeAll() {
        posted.forEach(request -> complete(
                Native.getLong(request, Layout.SendRequest.WR_ID), 0, 0));
        posted.clear();
    }

    /** {@return how often completions were asked to be announced} */
    long armed() {
        return announced;
    }

    /** The library has an event for the completion queue that was made last. */
    void announce() {
        wake(channelDescriptor);
    }

    /**
     * The library has an asynchronous event.
     *
     * @param element the address of the object, or the number of the port
     */
    void report(AsyncEventType type, long element) {
        report(type.code(), element);
    }

    synchronized void report(int type, long element) {
        reportedType = type;
        reportedElement = element;
        wake(asyncDescriptor);
    }

    private static void wake(int descriptor) {
        try (Arena ofCall = Arena.ofConfined()) {
            MemorySegment one = ofCall.allocate(Long.BYTES, Long.BYTES);
            one.set(JAVA_LONG, 0, 1);
            call("write", descriptor, one.address());
        }
    }

    private static boolean drain(int descriptor) {
        try (Arena ofCall = Arena.ofConfined()) {
            MemorySegment word = ofCall.allocate(Long.BYTES, Long.BYTES);
            return call("read", descriptor, word.address()) == Long.BYTES;
        }
    }

    private static long call(String function, int descriptor, long address) {
        try {
            MethodHandle handle = Linker.nativeLinker().downcallHandle(
                    Linker.nativeLinker().defaultLookup().findOrThrow(function),
                    FunctionDescriptor.of(JAVA_LONG, JAVA_INT, JAVA_LONG, JAVA_LONG));
            return (long) handle.invokeExact(descriptor, address, (long) Long.BYTES);
        } catch (Throwable t) {
            throw new IllegalStateException(t);
        }
    }

    private static int eventDescriptor() {
        try {
            MethodHandle handle = Linker.nativeLinker().downcallHandle(
                    Linker.nativeLinker().defaultLookup().findOrThrow("eventfd"),
                    FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT));
            return (int) handle.invokeExact(0, NON_BLOCKING);
        } catch (Throwable t) {
            throw new IllegalStateException(t);
        }
    }

    @Override
    public void close() throws IOException {
        if (!library.failures().isEmpty()) {
            throw new IOException("the fake library failed", library.failures().getFirst());
        }
    }
}
