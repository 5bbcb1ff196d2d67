// SPDX-License-Identifier: Apache-2.0
package pyverbs;

import io.rdma4j.cm.AddressInfo;
import io.rdma4j.cm.CmEvent;
import io.rdma4j.cm.CmId;
import io.rdma4j.cm.CmEventChannel;
import io.rdma4j.cm.MulticastMembership;
import io.rdma4j.connection.ConnectionParameters;
import io.rdma4j.connection.DatagramParameters;
import io.rdma4j.connection.PortSpace;
import io.rdma4j.verbs.*;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.ToLongFunction;

/**
 * What the Python side cannot say well: integers of 32 bits without sign, enums by code, raw memory. Everything takes
 * and gives longs and Latin-1 strings (one character a byte), and fails with the exception of rdma4j itself.
 */
public final class Bridge {
    private static final Map<Long, Arena> ARENAS = new ConcurrentHashMap<>();

    private Bridge() {}

    // ------------------------------------------------------------ enums

    private static <E extends Enum<E>> E of(Class<E> type, ToLongFunction<E> code, long wanted,
            String what) throws RdmaException {
        for (E e : type.getEnumConstants()) {
            if (code.applyAsLong(e) == wanted) {
                return e;
            }
        }
        throw new RdmaException(Errno.EINVAL, "shim", "no " + what + " " + wanted + " in rdma4j");
    }

    private static <E extends Enum<E>> Set<E> set(Class<E> type, ToLongFunction<E> bit, long bits) {
        Set<E> found = EnumSet.noneOf(type);
        for (E e : type.getEnumConstants()) {
            if ((bits & bit.applyAsLong(e)) != 0) {
                found.add(e);
            }
        }
        return found;
    }

    public static Set<AccessFlag> access(long bits) {
        return AccessFlag.ofBits((int) bits);
    }

    public static long bits(Set<AccessFlag> flags) {
        return AccessFlag.bits(flags);
    }

    // ------------------------------------------------------------ memory

    public static long alloc(long size, long alignment) {
        Arena arena = Arena.ofShared();
        MemorySegment segment = arena.allocate(Math.max(1, size), alignment);
        ARENAS.put(segment.address(), arena);
        return segment.address();
    }

    public static void free(long address) {
        Arena arena = ARENAS.remove(address);
        if (arena != null) {
            arena.close();
        }
    }

    private static MemorySegment at(long address, long length) {
        return MemorySegment.ofAddress(address).reinterpret(length);
    }

    public static void write(long address, String bytes) {
        byte[] b = bytes.getBytes(StandardCharsets.ISO_8859_1);
        MemorySegment.copy(b, 0, at(address, b.length), ValueLayout.JAVA_BYTE, 0, b.length);
    }

    public static String read(long address, long length) {
        return new String(at(address, length).toArray(ValueLayout.JAVA_BYTE),
                StandardCharsets.ISO_8859_1);
    }

    // ------------------------------------------------------------ device

    public static long limit(DeviceAttributes a, String name) {
        return a.limit(DeviceLimit.valueOf(name));
    }

    public static long capabilityBits(DeviceAttributes a) {
        return Integer.toUnsignedLong(a.capabilityFlags());
    }

    public static long odpBits(DeviceAttributes a, String type) {
        return Integer.toUnsignedLong(
                a.onDemandPagingBits().getOrDefault(QueuePairType.valueOf(type), 0));
    }

    public static String gidText(Gid gid) {
        return gid.toString();
    }

    // ------------------------------------------------------------ memory regions

    public static MemoryRegion register(ProtectionDomain pd, long address, long length, long access)
            throws RdmaException {
        return pd.register(at(address, length), access(access));
    }

    public static MemoryRegion registerEx(ProtectionDomain pd, long address, long length,
            long access, boolean hasIova, long iova) throws RdmaException {
        MemoryRegionInitAttributes a = new MemoryRegionInitAttributes();
        a.segment(at(address, length)).access(access(access));
        if (hasIova) {
            a.iova(iova);
        }
        return pd.register(a);
    }

    public static MemoryRegion registerDm(ProtectionDomain pd, DeviceMemory dm, long offset,
            long length, long access) throws RdmaException {
        return pd.register(new MemoryRegionInitAttributes().deviceMemory(dm, offset, length)
                .access(access(access)));
    }

    public static void reregister(MemoryRegion mr, long flags, long address, long length,
            ProtectionDomain pd, long access) throws RdmaException {
        MemoryRegionChanges changes = new MemoryRegionChanges();
        if ((flags & 1) != 0) {
            changes.segment(at(address, length));
        }
        if ((flags & 2) != 0) {
            changes.protectionDomain(pd);
        }
        if ((flags & 4) != 0) {
            changes.access(access(access));
        }
        mr.reregister(changes);
    }

    public static void advise(ProtectionDomain pd, long advice, boolean flush, long[] elements)
            throws RdmaException {
        List<ScatterGatherElement> list = new ArrayList<>();
        for (int i = 0; i < elements.length; i += 3) {
            list.add(new ScatterGatherElement(elements[i], elements[i + 1], (int) elements[i + 2]));
        }
        pd.advise(of(MemoryAdvice.class, MemoryAdvice::code, advice, "advice"), list,
                flush ? new AdviceFlag[]{AdviceFlag.FLUSH} : new AdviceFlag[0]);
    }

    public static void dmWrite(DeviceMemory dm, long offset, String data) throws RdmaException {
        byte[] b = data.getBytes(StandardCharsets.ISO_8859_1);
        dm.copyFrom(offset, MemorySegment.ofArray(b));
    }

    public static String dmRead(DeviceMemory dm, long offset, long length) throws RdmaException {
        byte[] b = new byte[(int) length];
        dm.copyTo(offset, MemorySegment.ofArray(b));
        return new String(b, StandardCharsets.ISO_8859_1);
    }

    public static MemoryWindow window(ProtectionDomain pd, long type) throws RdmaException {
        return pd.allocateMemoryWindow(
                of(MemoryWindowType.class, MemoryWindowType::code, type, "memory window type"));
    }

    public static MemoryWindowBind bindInfo(MemoryRegion mr, long address, long length,
            long access) {
        return new MemoryWindowBind(mr, address, length, access(access));
    }

    // ------------------------------------------------------------ completion queues

    public static CompletionQueue cq(DeviceContext context, long capacity, CompletionChannel channel,
            long vector) throws RdmaException {
        return context.createCompletionQueue(new CompletionQueueInitAttributes()
                .capacity(clamp(capacity)).channel(channel).completionVector(clamp(vector)));
    }

    private static int clamp(long value) {
        return (int) Math.max(Integer.MIN_VALUE, Math.min(Integer.MAX_VALUE, value));
    }

    public static ExtendedCompletionQueue cqEx(DeviceContext context, long capacity,
            CompletionChannel channel, long vector, long fields, boolean single, boolean overrun,
            ProtectionDomain parent) throws RdmaException {
        Set<CompletionField> wanted = set(CompletionField.class, CompletionField::bit, fields);
        return context.createExtendedCompletionQueue(new CompletionQueueInitAttributes()
                .capacity(clamp(capacity)).channel(channel).completionVector(clamp(vector))
                .fields(wanted.toArray(new CompletionField[0])).singleThreaded(single)
                .ignoreOverrun(overrun).parentDomain(parent));
    }

    /** Up to count completions: 13 numbers each. */
    public static long[] poll(CompletionQueue cq, int count) throws RdmaException {
        WorkCompletion[] wcs = WorkCompletion.array(count);
        int n = cq.poll(wcs);
        long[] out = new long[n * 13];
        for (int i = 0; i < n; i++) {
            fill(out, i * 13, wcs[i]);
        }
        return out;
    }

    public static long[] numbers(WorkCompletion wc) {
        long[] out = new long[13];
        fill(out, 0, wc);
        return out;
    }

    private static void fill(long[] out, int at, WorkCompletion wc) {
        out[at] = wc.id();
        out[at + 1] = wc.statusCode();
        out[at + 2] = wc.opcodeCode();
        out[at + 3] = wc.vendorError();
        out[at + 4] = wc.byteLength();
        out[at + 5] = Integer.toUnsignedLong(wc.queuePairNumber());
        out[at + 6] = Integer.toUnsignedLong(wc.sourceQueuePairNumber());
        out[at + 7] = Integer.toUnsignedLong(wc.immediate());
        out[at + 8] = Integer.toUnsignedLong(wc.flags());
        out[at + 9] = wc.pkeyIndex();
        out[at + 10] = wc.sourceLid();
        out[at + 11] = wc.serviceLevel();
        out[at + 12] = wc.destinationPathBits();
    }

    /** A completion event within the time, or null. */
    public static CompletionQueue event(CompletionChannel channel, long ms) throws RdmaException {
        return channel.pollEvent(Duration.ofMillis(ms));
    }

    public static AsyncEvent asyncEvent(DeviceContext context, long ms) throws RdmaException {
        return context.asyncEventChannel().pollEvent(Duration.ofMillis(ms));
    }

    // ------------------------------------------------------------ addresses

    public static AddressHandleAttributes path(String gid, long index, long flow, long hop,
            long tclass, long dlid, long sl, long bits, long rate, boolean global, long port) {
        return new AddressHandleAttributes(Gid.parse(gid), (int) index, (int) flow, (int) hop,
                (int) tclass, (int) dlid, (int) sl, (int) bits, (int) rate, global, (int) port);
    }

    public static AddressHandleAttributes pathBack(DeviceContext context, long port, WorkCompletion wc,
            long header) throws RdmaException {
        return context.pathBack((int) port, wc, at(header, 40));
    }

    // ------------------------------------------------------------ queue pairs

    public static QueuePairInitAttributes init(long type, CompletionQueue scq, CompletionQueue rcq,
            SharedReceiveQueue srq, long sendWr, long recvWr, long sendSge, long recvSge, long inline,
            boolean all, long sendOps, boolean blockLoop) throws RdmaException {
        QueuePairInitAttributes a = new QueuePairInitAttributes()
                .type(of(QueuePairType.class, QueuePairType::code, type, "queue pair type"))
                .sharedReceiveQueue(srq)
                .capabilities(new QueuePairCapabilities(clamp(sendWr), clamp(recvWr), clamp(sendSge),
                        clamp(recvSge), clamp(inline)))
                .signalAll(all).blockSelfMulticastLoopback(blockLoop);
        if (scq != null) {
            a.sendCompletionQueue(scq);
        }
        if (rcq != null) {
            a.receiveCompletionQueue(rcq);
        }
        if (sendOps != 0) {
            SendOpcode[] order = {SendOpcode.RDMA_WRITE, SendOpcode.RDMA_WRITE_WITH_IMMEDIATE,
                SendOpcode.SEND, SendOpcode.SEND_WITH_IMMEDIATE, SendOpcode.RDMA_READ,
                SendOpcode.ATOMIC_COMPARE_AND_SWAP, SendOpcode.ATOMIC_FETCH_AND_ADD,
                SendOpcode.LOCAL_INVALIDATE, SendOpcode.BIND_MEMORY_WINDOW,
                SendOpcode.SEND_WITH_INVALIDATE, null, SendOpcode.FLUSH,
                SendOpcode.ATOMIC_WRITE};
            List<SendOpcode> ops = new ArrayList<>();
            for (int i = 0; i < order.length; i++) {
                if ((sendOps >> i & 1) != 0) {
                    if (order[i] == null) {
                        throw RdmaException.unsupported("shim", "no segmentation offload in rdma4j");
                    }
                    ops.add(order[i]);
                }
            }
            a.sendOperations(ops.toArray(new SendOpcode[0]));
        }
        return a;
    }

    /** The values come in the order of the bits of the mask of C; 26 of them. */
    public static void modify(QueuePair qp, long mask, long[] v, AddressHandleAttributes path,
            AddressHandleAttributes alternate, long[] caps) throws RdmaException {
        QueuePairAttributes a = new QueuePairAttributes();
        if (bit(mask, 0)) {
            a.state(of(QueuePairState.class, QueuePairState::code, v[0], "state"));
        }
        if (bit(mask, 1)) {
            a.currentState(of(QueuePairState.class, QueuePairState::code, v[1], "state"));
        }
        if (bit(mask, 2)) {
            a.enableSqdAsyncNotify(v[2] != 0);
        }
        if (bit(mask, 3)) {
            a.accessFlags(access(v[3]));
        }
        if (bit(mask, 4)) {
            a.pkeyIndex((int) v[4]);
        }
        if (bit(mask, 5)) {
            a.port((int) v[5]);
        }
        if (bit(mask, 6)) {
            a.qkey((int) v[6]);
        }
        if (bit(mask, 7)) {
            a.addressVector(path);
        }
        if (bit(mask, 8)) {
            a.pathMtu(of(Mtu.class, Mtu::code, v[8], "MTU"));
        }
        if (bit(mask, 9)) {
            a.ackTimeoutExponent((int) v[9]);
        }
        if (bit(mask, 10)) {
            a.retryCount((int) v[10]);
        }
        if (bit(mask, 11)) {
            a.rnrRetry((int) v[11]);
        }
        if (bit(mask, 12)) {
            a.receivePsn((int) v[12]);
        }
        if (bit(mask, 13)) {
            a.maxReadAtomic((int) v[13]);
        }
        if (bit(mask, 14)) {
            a.alternatePath(alternate);
        }
        if (bit(mask, 15)) {
            a.minRnrTimerCode((int) v[15]);
        }
        if (bit(mask, 16)) {
            a.sendPsn((int) v[16]);
        }
        if (bit(mask, 17)) {
            a.maxDestinationReadAtomic((int) v[17]);
        }
        if (bit(mask, 18)) {
            a.pathMigrationState(of(PathMigrationState.class, PathMigrationState::code, v[18],
                    "path migration state"));
        }
        if (bit(mask, 19)) {
            a.capabilities(new QueuePairCapabilities(clamp(caps[0]), clamp(caps[1]), clamp(caps[2]),
                    clamp(caps[3]), clamp(caps[4])));
        }
        if (bit(mask, 20)) {
            a.destinationQueuePairNumber((int) v[20]);
        }
        if (bit(mask, 25)) {
            a.rateLimitKbps((int) v[25]);
        }
        qp.modify(a);
    }

    private static boolean bit(long mask, int i) {
        return (mask >> i & 1) != 0;
    }

    /** 26 values in the order of the bits, then five capabilities, then the mask of what is known. */
    public static long[] values(QueuePairAttributes a) {
        long[] v = new long[32];
        QueuePairAttribute[] order = QueuePairAttribute.values();
        long mask = 0;
        for (QueuePairAttribute x : order) {
            if (a.isSet(x)) {
                // C has four more between the last two.
                int i = x == QueuePairAttribute.RATE_LIMIT ? 25 : x.ordinal();
                mask |= 1L << i;
                switch (x) {
                    case STATE -> v[i] = a.state().code();
                    case CURRENT_STATE -> v[i] = a.currentState().code();
                    case ENABLE_SQD_ASYNC_NOTIFY -> v[i] = a.enableSqdAsyncNotify() ? 1 : 0;
                    case ACCESS_FLAGS -> v[i] = bits(a.accessFlags());
                    case PKEY_INDEX -> v[i] = a.pkeyIndex();
                    case PORT -> v[i] = a.port();
                    case QKEY -> v[i] = Integer.toUnsignedLong(a.qkey());
                    case PATH_MTU -> v[i] = a.pathMtu().code();
                    case TIMEOUT -> v[i] = a.ackTimeoutExponent();
                    case RETRY_COUNT -> v[i] = a.retryCount();
                    case RNR_RETRY -> v[i] = a.rnrRetry();
                    case RECEIVE_PSN -> v[i] = a.receivePsn();
                    case MAX_READ_ATOMIC -> v[i] = a.maxReadAtomic();
                    case MIN_RNR_TIMER -> v[i] = a.minRnrTimerCode();
                    case SEND_PSN -> v[i] = a.sendPsn();
                    case MAX_DESTINATION_READ_ATOMIC -> v[i] = a.maxDestinationReadAtomic();
                    case PATH_MIGRATION_STATE -> v[i] = a.pathMigrationState().code();
                    case DESTINATION_QUEUE_PAIR -> v[i] = a.destinationQueuePairNumber();
                    case RATE_LIMIT -> v[i] = a.rateLimitKbps();
                    case CAPABILITIES -> capsInto(v, 26, a.capabilities());
                    default -> {
                    }
                }
            }
        }
        v[31] = mask;
        return v;
    }

    private static void capsInto(long[] v, int at, QueuePairCapabilities c) {
        v[at] = c.maxSendRequests();
        v[at + 1] = c.maxReceiveRequests();
        v[at + 2] = c.maxSendElements();
        v[at + 3] = c.maxReceiveElements();
        v[at + 4] = c.maxInlineData();
    }

    public static AddressHandleAttributes pathOf(QueuePairAttributes a) {
        return a.isSet(QueuePairAttribute.ADDRESS_VECTOR) ? a.addressVector() : null;
    }

    public static AddressHandleAttributes alternateOf(QueuePairAttributes a) {
        return a.isSet(QueuePairAttribute.ALTERNATE_PATH) ? a.alternatePath() : null;
    }

    public static long[] caps(QueuePair qp) {
        long[] v = new long[5];
        capsInto(v, 0, qp.capabilities());
        return v;
    }

    public static QueuePairAttributes initQp(CmId id, long state) throws RdmaException {
        return id.initQueuePairAttributes(
                of(QueuePairState.class, QueuePairState::code, state, "state"));
    }

    public static long state(QueuePair qp) {
        return qp.state().code();
    }

    public static boolean inOrder(QueuePair qp, long opcode) throws RdmaException {
        return qp.isDataInOrder(of(SendOpcode.class, SendOpcode::code, opcode, "opcode"));
    }

    public static ReceiveWorkRequest recv(long id, long[] sges) {
        ReceiveWorkRequest r = new ReceiveWorkRequest().id(id);
        for (int i = 0; i < sges.length; i += 3) {
            r.add(sges[i], sges[i + 1], (int) sges[i + 2]);
        }
        return r;
    }

    public static SendWorkRequest send(long id, long opcode, long flags, long immediate, long[] sges)
            throws RdmaException {
        SendWorkRequest r = new SendWorkRequest().id(id)
                .opcode(of(SendOpcode.class, SendOpcode::code, opcode, "opcode")).flags((int) flags);
        if (r.opcode() == SendOpcode.LOCAL_INVALIDATE
                || r.opcode() == SendOpcode.SEND_WITH_INVALIDATE) {
            r.invalidateRkey((int) immediate);
        } else {
            r.immediate((int) immediate);
        }
        for (int i = 0; i < sges.length; i += 3) {
            r.add(sges[i], sges[i + 1], (int) sges[i + 2]);
        }
        return r;
    }

    public static void remote(SendWorkRequest r, long address, long rkey) {
        r.remote(address, (int) rkey);
    }

    public static void atomic(SendWorkRequest r, long address, long rkey, long compareAdd,
            long swap) {
        SendOpcode op = r.opcode();
        if (op == SendOpcode.ATOMIC_FETCH_AND_ADD) {
            r.fetchAndAdd(address, (int) rkey, compareAdd);
        } else {
            r.compareAndSwap(address, (int) rkey, compareAdd, swap);
        }
    }

    public static void to(SendWorkRequest r, AddressHandle ah, long qpn, long qkey) {
        r.to(ah, (int) qpn, (int) qkey);
    }

    public static void toSrq(SendWorkRequest r, long number) {
        r.toSharedReceiveQueue((int) number);
    }

    public static void bind(SendWorkRequest r, MemoryWindow mw, long rkey, MemoryWindowBind info) {
        r.bind(mw, (int) rkey, info);
    }

    public static void postSend(QueuePair qp, List<SendWorkRequest> list) throws RdmaException {
        if (list.size() == 1) {
            qp.postSend(list.get(0));
        } else {
            qp.postSend(list);
        }
    }

    public static List<Object> list() {
        return new ArrayList<>();
    }

    public static void postRecv(QueuePair qp, List<ReceiveWorkRequest> list) throws RdmaException {
        if (list.size() == 1) {
            qp.postReceive(list.get(0));
        } else {
            qp.postReceive(list);
        }
    }

    public static void postSrq(SharedReceiveQueue srq, List<ReceiveWorkRequest> list)
            throws RdmaException {
        if (list.size() == 1) {
            srq.post(list.get(0));
        } else {
            srq.post(list);
        }
    }

    // ------------------------------------------------------------ extended queue pair

    public static void batchBegin(SendBatch batch, long id, long flags) {
        batch.id(id).flags(set(SendFlag.class, SendFlag::bit, flags));
    }

    public static void batchAdd(SendBatch batch, String what, long[] a) throws RdmaException {
        switch (what) {
            case "send" -> batch.send();
            case "send_imm" -> batch.sendWithImmediate((int) a[0]);
            case "send_inv" -> batch.sendWithInvalidate((int) a[0]);
            case "local_inv" -> batch.localInvalidate((int) a[0]);
            case "write" -> batch.write(a[1], (int) a[0]);
            case "write_imm" -> batch.writeWithImmediate(a[1], (int) a[0], (int) a[2]);
            case "read" -> batch.read(a[1], (int) a[0]);
            case "cmp_swp" -> batch.compareAndSwap(a[1], (int) a[0], a[2], a[3]);
            case "fetch_add" -> batch.fetchAndAdd(a[1], (int) a[0], a[2]);
            case "sge" -> batch.add(a[1], a[2], (int) a[0]);
            case "xrc" -> batch.toSharedReceiveQueue((int) a[0]);
            case "inline" -> batch.inline(at(a[0], a[1]));
            default -> throw new IllegalArgumentException(what);
        }
    }

    public static void batchAtomicWrite(SendBatch batch, long rkey, long address, String value) {
        batch.atomicWrite(address, (int) rkey,
                MemorySegment.ofArray(value.getBytes(StandardCharsets.ISO_8859_1)));
    }

    public static void batchBind(SendBatch batch, MemoryWindow mw, long rkey, MemoryWindowBind info) {
        batch.bind(mw, (int) rkey, info);
    }

    public static void batchTo(SendBatch batch, AddressHandle ah, long qpn, long qkey) {
        batch.to(ah, (int) qpn, (int) qkey);
    }

    public static void bindMw(QueuePair qp, MemoryWindow mw, long id, MemoryWindowBind info,
            long flags) throws RdmaException {
        qp.bindMemoryWindow(id, mw, info,
                set(SendFlag.class, SendFlag::bit, flags).toArray(new SendFlag[0]));
    }

    public static void ece(QueuePair qp, long vendor, long options) throws RdmaException {
        qp.enhancedConnectionOptions(new EnhancedConnectionOptions((int) vendor, (int) options));
    }

    // ------------------------------------------------------------ shared receive queues, XRC

    public static SharedReceiveQueue srq(ProtectionDomain pd, long type, long wr, long sge, long limit,
            XrcDomain xrcd, CompletionQueue cq) throws RdmaException {
        if (type >= SharedReceiveQueueType.values().length) {
            throw RdmaException.unsupported("shim", "no tag matching in rdma4j");
        }
        return pd.createSharedReceiveQueue(new SharedReceiveQueueInitAttributes()
                .type(SharedReceiveQueueType.values()[(int) type]).maxRequests(clamp(wr))
                .maxElements(clamp(sge)).limit(clamp(limit)).xrcDomain(xrcd).completionQueue(cq));
    }

    public static XrcDomain xrcd(DeviceContext context, String path, boolean create)
            throws RdmaException {
        return path == null ? context.openXrcDomain()
                : context.openXrcDomain(Path.of(path), create
                        ? new StandardOpenOption[]{StandardOpenOption.CREATE}
                        : new StandardOpenOption[0]);
    }

    // ------------------------------------------------------------ connection manager

    public static List<AddressInfo> addressInfo(String node, String service, long space, long flags,
            String source, long sourcePort) throws Exception {
        AddressInfo.Hints hints = new AddressInfo.Hints();
        AddressInfo.Flag[] order = {AddressInfo.Flag.PASSIVE, AddressInfo.Flag.NUMERIC_HOST, null,
            AddressInfo.Flag.FAMILY};
        for (int i = 0; i < order.length; i++) {
            if ((flags >> i & 1) != 0 && order[i] != null) {
                hints.set(order[i]);
            }
        }
        if (space != 0) {
            hints.portSpace(of(PortSpace.class, PortSpace::code, space, "port space"));
        }
        if (source != null) {
            hints.source(new InetSocketAddress(InetAddress.getByName(source), (int) sourcePort));
        }
        return AddressInfo.resolve(node, service, hints);
    }

    public static ParentDomainInitAttributes parent(BufferAllocator allocator) {
        return new ParentDomainInitAttributes().allocator(allocator);
    }

    public static CmId create(CmEventChannel channel, long space) throws RdmaException {
        PortSpace s = of(PortSpace.class, PortSpace::code, space, "port space");
        return channel == null ? CmId.create(s) : CmId.create(channel, s);
    }

    public static CmEvent event(CmEventChannel channel, long ms) throws RdmaException {
        return channel.pollEvent(Duration.ofMillis(ms));
    }

    public static CmId request(CmId listener, long ms) throws RdmaException {
        return listener.pollRequest(Duration.ofMillis(ms));
    }

    public static void resolveAddress(CmId id, InetSocketAddress source, InetSocketAddress to, long ms)
            throws RdmaException {
        id.resolveAddress(source, to, Duration.ofMillis(ms));
    }

    public static void resolveRoute(CmId id, long ms) throws RdmaException {
        id.resolveRoute(Duration.ofMillis(ms));
    }

    public static ConnectionParameters parameters(long resources, long depth, boolean flow, long retry,
            long rnr, boolean srq, long qpn, String data) {
        return new ConnectionParameters().responderResources((int) resources)
                .initiatorDepth((int) depth).flowControl(flow).retryCount((int) retry)
                .rnrRetryCount((int) rnr).sharedReceiveQueue(srq).queuePairNumber((int) qpn)
                .privateData(data.getBytes(StandardCharsets.ISO_8859_1));
    }

    public static String privateData(CmEvent event) {
        return new String(event.privateData(), StandardCharsets.ISO_8859_1);
    }

    public static long eventType(CmEvent event) {
        return event.typeCode();
    }

    public static long udQpn(DatagramParameters p) {
        return Integer.toUnsignedLong(p.queuePairNumber());
    }

    public static long udQkey(DatagramParameters p) {
        return Integer.toUnsignedLong(p.qkey());
    }

    public static void reject(CmId id, String data) throws RdmaException {
        id.reject(data.getBytes(StandardCharsets.ISO_8859_1));
    }

    public static void join(CmId id, InetSocketAddress group, long flags) throws RdmaException {
        if (flags < 0) {
            id.joinMulticast(group.getAddress());
        } else {
            id.joinMulticast(group.getAddress(), flags == 0 ? MulticastMembership.FULL_MEMBER
                    : MulticastMembership.values()[1], null);
        }
    }

    public static void leave(CmId id, InetSocketAddress group) throws RdmaException {
        id.leaveMulticast(group.getAddress());
    }

    private static SendFlag[] flags(long bits) {
        return set(SendFlag.class, SendFlag::bit, bits).toArray(new SendFlag[0]);
    }

    public static MemoryRegion idRegister(CmId id, long address, long length, String kind)
            throws RdmaException {
        MemorySegment memory = at(address, length);
        return switch (kind) {
            case "messages" -> id.registerMessages(memory);
            case "read" -> id.registerRead(memory);
            case "write" -> id.registerWrite(memory);
            default -> throw new IllegalArgumentException(kind);
        };
    }

    public static void idReceive(CmId id, MemoryRegion mr, long length) throws RdmaException {
        id.postReceive(0, mr, 0, length);
    }

    public static void idSend(CmId id, MemoryRegion mr, long length, long flags)
            throws RdmaException {
        id.postSend(0, mr, 0, length, flags(flags));
    }

    public static void idRead(CmId id, MemoryRegion mr, long length, long address, long rkey,
            long flags) throws RdmaException {
        id.postRead(0, mr, 0, length, address, (int) rkey, flags(flags));
    }

    public static void idWrite(CmId id, MemoryRegion mr, long length, long address, long rkey,
            long flags) throws RdmaException {
        id.postWrite(0, mr, 0, length, address, (int) rkey, flags(flags));
    }

    public static void idDatagram(CmId id, MemoryRegion mr, long length, AddressHandle ah, long qpn,
            long flags) throws RdmaException {
        id.postDatagram(0, mr, 0, length, ah, (int) qpn, DatagramParameters.UDP_QKEY, flags(flags));
    }

    public static WorkCompletion sent(CmId id, long ms) throws RdmaException {
        return id.pollSendCompletion(Duration.ofMillis(ms));
    }

    public static WorkCompletion received(CmId id, long ms) throws RdmaException {
        return id.pollReceiveCompletion(Duration.ofMillis(ms));
    }

    public static CmId endpoint(AddressInfo info, ProtectionDomain pd, QueuePairInitAttributes init)
            throws RdmaException {
        if (init == null) {
            return CmId.createEndpoint(info);
        }
        return pd == null ? CmId.createEndpoint(info, init)
                : CmId.createEndpoint(info, pd, init, Duration.ofSeconds(2));
    }

    public static void idQueuePair(CmId id, ProtectionDomain pd, QueuePairInitAttributes init)
            throws RdmaException {
        if (pd == null) {
            id.createQueuePair(init);
        } else {
            id.createQueuePair(pd, init);
        }
    }
}
