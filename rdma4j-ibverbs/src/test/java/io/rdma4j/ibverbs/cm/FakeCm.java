// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.ibverbs.cm;

import io.rdma4j.ibverbs.abi.CmLayout.AddressInfo;
import io.rdma4j.ibverbs.abi.CmLayout.CmEvent;
import io.rdma4j.ibverbs.abi.CmLayout.CmId;
import io.rdma4j.ibverbs.abi.CmLayout.EventChannel;
import io.rdma4j.ibverbs.abi.CmLayout.JoinMulticast;
import io.rdma4j.ibverbs.abi.CmSymbol;
import io.rdma4j.ibverbs.abi.FakeLibrary;
import io.rdma4j.ibverbs.abi.Layout.Context;
import io.rdma4j.ibverbs.abi.Layout.Device;
import io.rdma4j.ibverbs.abi.Library;
import io.rdma4j.ibverbs.abi.Native;
import io.rdma4j.ibverbs.abi.SystemSymbol;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

/**
 * A librdmacm whose peers are the test: it resolves by itself, and says of everything else what the test has it say. Uses of
 * what is gone, and events that are not acknowledged, are failures.
 */
final class FakeCm {
    private static final long PATIENCE_NS = TimeUnit.SECONDS.toNanos(20);
    private static final int EAGAIN = 11;
    private static final int EFD_CLOEXEC = 0x80000;

    final FakeLibrary functions = new FakeLibrary(List.of(CmSymbol.values()));
    final Library<SystemSymbol> system;
    private final Arena arena = Arena.ofAuto();
    private final MemorySegment channel = arena.allocate(EventChannel.SIZE, 8);
    private final Map<Long, Id> ids = new HashMap<>();
    private final Map<InetAddress, MemorySegment> devices = new HashMap<>();
    private final Queue<MemorySegment> events = new ArrayDeque<>();
    private final Set<Long> unacknowledged = new HashSet<>();
    private final Map<CmSymbol, Integer> failures = new EnumMap<>(CmSymbol.class);
    private final List<String> faults = new ArrayList<>();
    private final List<String> calls = new ArrayList<>();
    /** What the next look at attributes finds: the structure, and the mask behind it. */
    private MemorySegment attributes = arena.allocate(160, 8);
    private int attributesMask;
    private int made;
    private boolean isEmptyHanded;
    /** What a call of rdma_connect waits for. */
    private Runnable inConnect = () -> {};

    /** An id, with what was written for it. */
    static final class Id {
        final MemorySegment structure;
        final int space;
        final List<byte[]> params = new ArrayList<>();
        final List<byte[]> privateData = new ArrayList<>();
        /** What was joined, with the flags. */
        final Map<InetAddress, Integer> groups = new ConcurrentHashMap<>();
        /** What it connects; 0 if the library was not given it. */
        int queuePairType;
        boolean isSynchronous;
        boolean isShared;
        boolean isBound;
        /** It takes a port for its own IP version alone. */
        boolean isOfOwnVersionOnly;
        int backlog;

        Id(MemorySegment structure, int space) {
            this.structure = structure;
            this.space = space;
        }

        long address() {
            return structure.address();
        }
    }

    FakeCm() throws RdmaException {
        system = new Library<>("libc.so.6", SystemSymbol.class, FakeLibrary.system());
        Native.putInt(channel, EventChannel.FD,
                (int) system.get(SystemSymbol.EVENTFD).call(0, EFD_CLOEXEC).value());
        define(CmSymbol.CREATE_EVENT_CHANNEL, args -> channel.address());
        define(CmSymbol.CREATE_ID, this::create);
        define(CmSymbol.CREATE_EP, this::createAtAddress);
        define(CmSymbol.MIGRATE_ID, args -> {
            id(args).isSynchronous = false;
            return args[1] == channel.address() ? 0 : FakeLibrary.fail(22);
        });
        define(CmSymbol.DESTROY_ID, this::destroy);
        define(CmSymbol.GET_CM_EVENT, this::nextEvent);
        define(CmSymbol.ACK_CM_EVENT, this::acknowledge);
        define(CmSymbol.SET_OPTION, this::setOption);
        define(CmSymbol.BIND_ADDR, this::bind);
        define(CmSymbol.RESOLVE_ADDR, this::resolveAddress);
        define(CmSymbol.RESOLVE_ROUTE, args -> {
            post(id(args), EventType.ROUTE_RESOLVED, 0);
            return 0;
        });
        define(CmSymbol.LISTEN, args -> {
            id(args).backlog = (int) args[1];
            return 0;
        });
        define(CmSymbol.CONNECT, this::connect);
        define(CmSymbol.ACCEPT, this::param);
        define(CmSymbol.REJECT, args -> {
            id(args).privateData.add(bytes(args[1], (int) args[2] & 0xff));
            return 0;
        });
        define(CmSymbol.INIT_QP_ATTR, this::initAttributes);
        define(CmSymbol.JOIN_MULTICAST_EX, args -> {
            MemorySegment how = Native.at(args[1], JoinMulticast.SIZE);
            return join(args[0], Native.getInt(how, JoinMulticast.COMP_MASK),
                    Native.getInt(how, JoinMulticast.JOIN_FLAGS),
                    Native.getLong(how, JoinMulticast.ADDR));
        });
        define(CmSymbol.JOIN_MULTICAST, args -> join(args[0], 3, 0, args[1]));
        define(CmSymbol.LEAVE_MULTICAST, this::leave);
        for (CmSymbol each : List.of(CmSymbol.ESTABLISH, CmSymbol.NOTIFY, CmSymbol.DISCONNECT)) {
            define(each, args -> {
                id(args);
                return 0;
            });
        }
    }

    /** An older library does not have it. To be said before anything is looked up. */
    void remove(CmSymbol symbol) {
        functions.remove(symbol);
    }

    Library<CmSymbol> library() throws RdmaException {
        return new Library<>("librdmacm.so.1", CmSymbol.class, functions.lookup());
    }

    private void define(CmSymbol symbol, FakeLibrary.Function function) {
        functions.define(symbol, args -> {
            Integer failure;
            synchronized (this) {
                failure = failures.remove(symbol);
                if (symbol != CmSymbol.GET_CM_EVENT && symbol != CmSymbol.ACK_CM_EVENT) {
                    calls.add(symbol.symbol());
                }
            }
            return failure == null ? function.call(args) : FakeLibrary.fail(failure);
        });
    }

    // ---------------------------------------------------------------- what tests say

    /** There is a device at some addresses. */
    void device(String name, List<InetAddress> addresses) {
        MemorySegment device = arena.allocate(Device.SIZE, 8);
        byte[] text = name.getBytes(StandardCharsets.UTF_8);
        MemorySegment.copy(text, 0, device, JAVA_BYTE, Device.NAME, text.length);
        MemorySegment verbs = arena.allocate(Context.SIZE, 8);
        Native.putLong(verbs, Context.DEVICE, device.address());
        addresses.forEach(each -> devices.put(each, verbs));
    }

    /** The next call of a function fails. */
    synchronized void failNext(CmSymbol symbol, Errno reason) {
        failures.put(symbol, reason.number());
    }

    /** It gives null pointers from now on, as if all was well. */
    synchronized void giveNothing() {
        isEmptyHanded = true;
    }

    void whileConnecting(Runnable wait) {
        inConnect = wait;
    }

    /** {@return what attributes are written from} */
    MemorySegment attributes(int mask) {
        attributesMask = mask;
        attributes = arena.allocate(160, 8);
        return attributes;
    }

    int descriptor() {
        return Native.getInt(channel, EventChannel.FD);
    }

    synchronized List<String> calls() {
        return List.copyOf(calls);
    }

    synchronized long count(CmSymbol symbol) {
        return calls.stream().filter(symbol.symbol()::equals).count();
    }

    /** {@return the ids there are, oldest first} */
    synchronized List<Id> ids() {
        return ids.values().stream().sorted((a, b) -> Integer.compare(order(a), order(b)))
                .toList();
    }

    private int order(Id id) {
        return Native.getInt(id.structure, CmId.SIZE);
    }

    synchronized List<String> faults() {
        List<String> all = new ArrayList<>(faults);
        functions.failures().forEach(each -> all.add(each.toString()));
        return all;
    }

    /** Posts an event without data. */
    MemorySegment post(Id id, EventType type, int status) {
        return post(event(id, type, status));
    }

    /** {@return an event to be filled in and posted} */
    MemorySegment event(Id id, EventType type, int status) {
        MemorySegment event = arena.allocate(CmEvent.SIZE, 8);
        Native.putLong(event, CmEvent.ID, id.address());
        Native.putInt(event, CmEvent.EVENT, List.of(EventType.values()).indexOf(type));
        Native.putInt(event, CmEvent.STATUS, status);
        return event;
    }

    /** Posts an event of a type that only newer libraries have. */
    MemorySegment postUnknown(Id id, int type, int status) {
        MemorySegment event = event(id, EventType.OTHER, status);
        Native.putInt(event, CmEvent.EVENT, type);
        // What stands where others have the address of private data.
        Native.putLong(event, CmEvent.PRIVATE_DATA, 3);
        Native.putByte(event, CmEvent.PRIVATE_DATA_LEN, 9);
        return post(event);
    }

    void data(MemorySegment event, byte... data) {
        Native.putLong(event, CmEvent.PRIVATE_DATA,
                arena.allocateFrom(JAVA_BYTE, data).address());
        Native.putByte(event, CmEvent.PRIVATE_DATA_LEN, data.length);
    }

    /** {@return a new id, for an event of a listener} */
    Id request(Id listener, InetSocketAddress local, InetSocketAddress peer) {
        Id made = make(listener.space);
        write(made, CmId.SRC_ADDR, local);
        write(made, CmId.DST_ADDR, peer);
        at(made, local.getAddress());
        return made;
    }

    MemorySegment requestEvent(Id listener, Id request) {
        MemorySegment event = event(request, EventType.CONNECT_REQUEST, 0);
        Native.putLong(event, CmEvent.LISTEN_ID, listener.address());
        return event;
    }

    MemorySegment post(MemorySegment event) {
        synchronized (this) {
            events.add(event);
        }
        MemorySegment one = arena.allocate(8, 8);
        Native.putLong(one, 0, 1);
        system.get(SystemSymbol.WRITE).call(descriptor(), one.address(), 8);
        return event;
    }

    // ---------------------------------------------------------------- the functions

    private synchronized Id make(int space) {
        MemorySegment structure = arena.allocate(CmId.SIZE + 8, 8);
        Native.putInt(structure, CmId.SIZE, made++);
        Id id = new Id(structure, space);
        ids.put(id.address(), id);
        return id;
    }

    private synchronized Id id(long[] args) {
        Id found = ids.get(args[0]);
        if (found == null) {
            throw new IllegalStateException("a call with an id that is gone");
        }
        return found;
    }

    private long create(long[] args) {
        if (isEmptyHanded) {
            return 0;
        }
        Native.putLong(Native.at(args[1], 8), 0, make((int) args[3]).address());
        return args[0] == channel.address() ? 0 : FakeLibrary.fail(22);
    }

    /** With flags RAI_PASSIVE and no queue pair. */
    private long createAtAddress(long[] args) {
        if (isEmptyHanded) {
            return 0;
        }
        MemorySegment info = Native.at(args[1], AddressInfo.SIZE);
        Id made = make(Native.getInt(info, AddressInfo.PORT_SPACE));
        made.queuePairType = Native.getInt(info, AddressInfo.QP_TYPE);
        made.isSynchronous = true;
        long address = Native.getLong(info, AddressInfo.SRC_ADDR);
        int length = Native.getInt(info, AddressInfo.FAMILY) == SocketAddresses.IPV4 ? 16 : 28;
        boolean isAsExpected = Native.getInt(info, AddressInfo.FLAGS) == 1
                && Native.getInt(info, AddressInfo.SRC_LEN) == length && args[2] == 0
                && args[3] == 0;
        long result = isAsExpected ? bind(new long[]{made.address(), address})
                : FakeLibrary.fail(22);
        if (result != 0) {
            destroy(new long[]{made.address()});
            return result;
        }
        Native.putLong(Native.at(args[0], 8), 0, made.address());
        return 0;
    }

    private synchronized long destroy(long[] args) {
        Id gone = ids.remove(args[0]);
        if (gone == null) {
            faults.add("an id was destroyed twice");
        } else if (!gone.groups.isEmpty()) {
            faults.add("memory of a group that was not left is lost");
        }
        // With the requests that were not read.
        events.stream().filter(event -> concerns(event, args[0]))
                .forEach(event -> ids.remove(Native.getLong(event, CmEvent.ID)));
        events.removeIf(event -> concerns(event, args[0]));
        long begun = System.nanoTime();
        while (unacknowledged.contains(args[0])) {
            if (System.nanoTime() - begun > PATIENCE_NS) {
                faults.add("destroying an id waits for an event that nobody acknowledges");
                return 0;
            }
            try {
                wait(100);
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }
        return 0;
    }

    private static boolean concerns(MemorySegment event, long id) {
        return owner(event) == id;
    }

    /** {@return the id whose destruction an event holds up: of a request, the listener} */
    private static long owner(MemorySegment event) {
        long listener = Native.getLong(event, CmEvent.LISTEN_ID);
        return listener == 0 ? Native.getLong(event, CmEvent.ID) : listener;
    }

    private synchronized long nextEvent(long[] args) {
        MemorySegment event = events.poll();
        if (event == null) {
            MemorySegment word = arena.allocate(8, 8);
            system.get(SystemSymbol.READ).call(descriptor(), word.address(), 8);
            return isEmptyHanded ? 0 : FakeLibrary.fail(EAGAIN);
        }
        unacknowledged.add(owner(event));
        Native.putLong(Native.at(args[1], 8), 0, event.address());
        return 0;
    }

    private synchronized long acknowledge(long[] args) {
        MemorySegment event = Native.at(args[0], CmEvent.SIZE);
        unacknowledged.remove(owner(event));
        // What the library gives back says nothing any more.
        event.fill((byte) 0x55);
        notifyAll();
        return 0;
    }

    private long setOption(long[] args) {
        if (args[1] != 0 || (args[2] == 1 && args[4] != 4)) {
            return FakeLibrary.fail(22);
        }
        id(args).isShared |= args[2] == 1;
        id(args).isOfOwnVersionOnly |= args[2] == 2;
        return 0;
    }

    /** {@return whether each wants its own IP version alone, and they are not the same} */
    private static boolean isApart(Id id, Id other, InetSocketAddress wanted) {
        boolean isIpv6 = Native.getShort(other.structure, CmId.SRC_ADDR) == SocketAddresses.IPV6;
        return id.isOfOwnVersionOnly && other.isOfOwnVersionOnly
                && isIpv6 != wanted.getAddress() instanceof Inet6Address;
    }

    private synchronized long bind(long[] args) {
        Id id = id(args);
        InetSocketAddress wanted = read(args[1]);
        for (Id other : ids.values()) {
            if (other != id && other.isBound && other.space == id.space
                    && !(other.isShared && id.isShared) && !isApart(id, other, wanted)
                    && port(other) == wanted.getPort()) {
                return FakeLibrary.fail(Errno.EADDRINUSE.number());
            }
        }
        if (!wanted.getAddress().isAnyLocalAddress()
                && !devices.containsKey(wanted.getAddress())) {
            return FakeLibrary.fail(Errno.ENODEV.number());
        }
        id.isBound = true;
        write(id, CmId.SRC_ADDR, wanted);
        at(id, wanted.getAddress());
        return 0;
    }

    private static int port(Id id) {
        return Native.getByte(id.structure, CmId.SRC_ADDR + 2) << 8
                | Native.getByte(id.structure, CmId.SRC_ADDR + 3);
    }

    private void at(Id id, InetAddress address) {
        MemorySegment verbs = devices.get(address);
        Native.putLong(id.structure, CmId.VERBS, verbs == null ? 0 : verbs.address());
    }

    private long resolveAddress(long[] args) {
        Id id = id(args);
        write(id, CmId.DST_ADDR, read(args[2]));
        post(id, EventType.ADDR_RESOLVED, 0);
        return args[1] == 0 ? 0 : FakeLibrary.fail(22);
    }

    private long connect(long[] args) {
        long result = param(args);
        inConnect.run();
        return result;
    }

    private long param(long[] args) {
        Id id = id(args);
        byte[] param = bytes(args[1], 24);
        MemorySegment in = MemorySegment.ofArray(param);
        id.privateData.add(bytes(Native.getLong(in, 0), Native.getByte(in, 8)));
        id.params.add(Arrays.copyOfRange(param, 8, 24));
        return 0;
    }

    private long initAttributes(long[] args) {
        id(args);
        MemorySegment out = Native.at(args[1], 144);
        int state = Native.getInt(out, 0);
        MemorySegment.copy(attributes, 0, out, 0, 144);
        Native.putInt(out, 0, state);
        Native.putInt(Native.at(args[2], 4), 0, attributesMask);
        return 0;
    }

    private long join(long id, int mask, int flags, long group) {
        if (mask != 3) {
            return FakeLibrary.fail(22);
        }
        id(new long[]{id}).groups.put(read(group).getAddress(), flags);
        return 0;
    }

    private long leave(long[] args) {
        if (id(args).groups.remove(read(args[1]).getAddress()) == null) {
            faults.add("a group was left that was not joined");
        }
        return 0;
    }

    private static byte[] bytes(long at, int length) {
        return length == 0 ? new byte[0] : Native.at(at, length).toArray(JAVA_BYTE);
    }

    private void write(Id id, long at, InetSocketAddress address) {
        MemorySegment.copy(SocketAddresses.allocate(arena, address, 0), 0, id.structure, at, 28);
    }

    private static InetSocketAddress read(long at) {
        try {
            return SocketAddresses.read(Native.at(at, 28), 0);
        } catch (RdmaException e) {
            throw new IllegalStateException(e);
        }
    }
}
