package io.rdma4j.ibverbs.verbs;

import io.rdma4j.ibverbs.abi.ErrorNumbers;
import io.rdma4j.ibverbs.abi.HotCalls;
import io.rdma4j.ibverbs.abi.Layout;
import io.rdma4j.ibverbs.abi.Layout.SendRequest;
import io.rdma4j.ibverbs.abi.Layout.WindowBind;
import io.rdma4j.ibverbs.abi.Native;
import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.MemoryWindowBind;
import io.rdma4j.verbs.MemoryWindowType;
import io.rdma4j.verbs.QueuePairCapabilities;
import io.rdma4j.verbs.QueuePairType;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.ScatterGatherList;
import io.rdma4j.verbs.SendFlag;
import io.rdma4j.verbs.SendOpcode;
import io.rdma4j.verbs.SendWorkRequest;
import org.jspecify.annotations.Nullable;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Set;

/**
 * Send requests in native memory, as a chain that one call posts. For one thread at a time.
 */
final class SendPosting {
    /** How many requests one call posts at most. */
    static final int CHAIN = 32;

    /** Where a staged FLUSH keeps what no {@code struct ibv_send_wr} has; the library does not see it. */
    private static final long FLUSH_LENGTH = SendRequest.SWAP;
    private static final long FLUSH_PLACEMENT = SendRequest.ATOMIC_RKEY;
    private static final long FLUSH_SELECTIVITY = FLUSH_PLACEMENT + Integer.BYTES;
    private static final int ATOMIC_WRITE_LENGTH = Long.BYTES;

    private final NativeQueuePair queuePair;
    private final NativeProtectionDomain domain;
    private final MemorySegment function;
    private final long queue;
    private final long tag;
    private final OutstandingWork work;
    private final QueuePairCapabilities sizes;
    private final QueuePairType type;
    private final Set<SendOpcode> offered;
    private final long longest;
    private final int capacity;
    private final long stride;
    private final long inlineOffset;
    private final MemorySegment chain;
    private final MemorySegment refused;
    private final @Nullable ExtendedPosting extended;
    private int staged;
    private boolean isExtendedStaged;

    SendPosting(NativeQueuePair queuePair, Arena arena, MemorySegment function, long tag,
            OutstandingWork work, Set<SendOpcode> offered, long longest,
            @Nullable ExtendedPosting extended) {
        this.queuePair = queuePair;
        this.extended = extended;
        domain = queuePair.owner();
        this.function = function;
        queue = queuePair.pointer();
        this.tag = tag;
        this.work = work;
        this.offered = offered;
        this.longest = longest;
        sizes = queuePair.capabilities();
        type = queuePair.type();
        inlineOffset = SendRequest.SIZE
                + Math.max(1, sizes.maxSendElements()) * Layout.Element.SIZE;
        stride = inlineOffset + (Math.max(ATOMIC_WRITE_LENGTH, sizes.maxInlineData()) + 7L) / 8 * 8;
        capacity = Math.max(1, Math.min(CHAIN, sizes.maxSendRequests()));
        chain = arena.allocate(capacity * stride, 8);
        refused = arena.allocate(Long.BYTES, Long.BYTES);
    }

    /** {@return whether another request fits into the chain} */
    boolean hasRoom() {
        return staged < capacity;
    }

    /** Forgets what is staged. */
    void drop() {
        staged = 0;
        isExtendedStaged = false;
    }

    /**
     * Adds a request to the chain.
     *
     * @throws RdmaException if it is refused; what was staged before stays so
     */
    void stage(SendWorkRequest request) throws RdmaException {
        SendChecks.check(request, queuePair.state(), type, offered, sizes, longest);
        if (!work.hasRoom(staged + 1)) {
            throw new RdmaException(Errno.ENOMEM, SendChecks.OPERATION, "the queue is full: all "
                    + sizes.maxSendRequests()
                    + " requests are outstanding; take completions first");
        }
        long at = staged * stride;
        write(request, at);
        Native.putLong(chain, at + SendRequest.WR_ID,
                tag | work.note(staged, request.id(), request.opcode().completionOpcode()));
        Native.putLong(chain, at + SendRequest.NEXT, 0);
        if (staged > 0) {
            Native.putLong(chain, at - stride + SendRequest.NEXT, chain.address() + at);
        }
        staged++;
    }

    private void write(SendWorkRequest request, long at) throws RdmaException {
        long elementsAt = at + SendRequest.SIZE;
        int count = writePayload(request, at, elementsAt);
        Native.putLong(chain, at + SendRequest.SG_LIST, chain.address() + elementsAt);
        Native.putInt(chain, at + SendRequest.NUM_SGE, count);
        Native.putInt(chain, at + SendRequest.OPCODE, request.opcode().code());
        Native.putInt(chain, at + SendRequest.SEND_FLAGS, request.flags());
        switch (request.opcode()) {
            case SEND_WITH_IMMEDIATE -> putImmediate(request, at);
            case RDMA_WRITE_WITH_IMMEDIATE -> {
                putImmediate(request, at);
                putRemote(request, at);
            }
            case RDMA_WRITE, RDMA_READ -> putRemote(request, at);
            case SEND_WITH_INVALIDATE, LOCAL_INVALIDATE -> Native.putInt(chain,
                    at + SendRequest.IMM_DATA, request.invalidateRkey());
            case ATOMIC_COMPARE_AND_SWAP, ATOMIC_FETCH_AND_ADD -> {
                Native.putLong(chain, at + SendRequest.REMOTE_ADDR, request.remoteAddress());
                Native.putLong(chain, at + SendRequest.COMPARE_ADD, request.compareAdd());
                Native.putLong(chain, at + SendRequest.SWAP, request.swap());
                Native.putInt(chain, at + SendRequest.ATOMIC_RKEY, request.rkey());
            }
            case BIND_MEMORY_WINDOW -> putBind(request, at);
            case FLUSH -> {
                putRemote(request, at);
                Native.putLong(chain, at + FLUSH_LENGTH, request.flushLength());
                Native.putInt(chain, at + FLUSH_PLACEMENT, request.flushPlacement());
                Native.putInt(chain, at + FLUSH_SELECTIVITY, request.flushSelectivity().code());
                isExtendedStaged = true;
            }
            case ATOMIC_WRITE -> {
                putRemote(request, at);
                isExtendedStaged = true;
            }
            default -> {
                // Nothing beside the payload.
            }
        }
        if (type == QueuePairType.UD) {
            putDestination(request, at);
        }
    }

    private int writePayload(SendWorkRequest request, long at, long elementsAt)
            throws RdmaException {
        boolean isAtomicWrite = request.opcode() == SendOpcode.ATOMIC_WRITE;
        if (request.has(SendFlag.INLINE) || isAtomicWrite) {
            long length = gatherInline(request, at + inlineOffset);
            Elements.write(chain, elementsAt, chain.address() + at + inlineOffset, length, 0);
            return length == 0 ? 0 : 1;
        }
        ScatterGatherList elements = request.elements();
        RegionLiveness.check(domain, elements, SendChecks.OPERATION);
        Elements.write(chain, elementsAt, elements);
        return elements.count();
    }

    /** {@return how many bytes were copied} An address is read only where it is that of a registered region. */
    private long gatherInline(SendWorkRequest request, long at) throws RdmaException {
        MemorySegment data = request.inlineData();
        if (data != null) {
            copy(data, 0, data.byteSize(), at);
            return data.byteSize();
        }
        ScatterGatherList elements = request.elements();
        long copied = 0;
        for (int i = 0; i < elements.count(); i++) {
            long length = elements.length(i);
            if (length > 0) {
                NativeMemoryRegion region = domain.regions().get(elements.lkey(i));
                long offset = region == null ? -1 : elements.address(i) - region.address();
                if (region == null || offset < 0 || offset > region.segment().byteSize() - length) {
                    throw new RdmaException(Errno.EFAULT, SendChecks.OPERATION, "element " + i
                            + " of the inline data names no registered memory of the process; give its bytes with"
                            + " SendWorkRequest.inline instead");
                }
                copy(region.segment(), offset, length, at + copied);
                copied += length;
            }
        }
        return copied;
    }

    private void copy(MemorySegment source, long offset, long length, long at)
            throws RdmaException {
        try {
            MemorySegment.copy(source, offset, chain, at, length);
        } catch (InternalError cutShort) {
            throw new RdmaException(Errno.EFAULT, SendChecks.OPERATION,
                    "the file that the inline data maps was cut short", cutShort);
        } catch (IllegalStateException closed) {
            throw new IllegalStateException("the inline data cannot be read: its arena is closed",
                    closed);
        } catch (WrongThreadException foreign) {
            throw new IllegalStateException("the inline data cannot be read: its arena is confined"
                    + " to another thread", foreign);
        }
    }

    private void putImmediate(SendWorkRequest request, long at) {
        Native.putInt(chain, at + SendRequest.IMM_DATA, Native.bigEndian(request.immediate()));
    }

    private void putRemote(SendWorkRequest request, long at) {
        Native.putLong(chain, at + SendRequest.REMOTE_ADDR, request.remoteAddress());
        Native.putInt(chain, at + SendRequest.RDMA_RKEY, request.rkey());
    }

    private void putDestination(SendWorkRequest request, long at) throws RdmaException {
        if (!(request.addressHandle() instanceof NativeAddressHandle handle)
                || !handle.owner().isOneWith(domain)) {
            throw new RdmaException(Errno.EINVAL, SendChecks.OPERATION,
                    "a datagram needs an address handle of the queue pair's protection domain");
        }
        handle.checkOpen();
        Native.putLong(chain, at + SendRequest.AH, handle.pointer());
        Native.putInt(chain, at + SendRequest.REMOTE_QPN, request.remoteQueuePair());
        // A privileged one stands for that of the queue pair, IBTA 10.2.5; not every driver knows.
        int qkey = request.remoteQkey();
        Native.putInt(chain, at + SendRequest.REMOTE_QKEY, qkey < 0 ? queuePair.qkey() : qkey);
    }

    private void putBind(SendWorkRequest request, long at) throws RdmaException {
        MemoryWindowBind bind = request.windowBind();
        if (!(request.window() instanceof NativeMemoryWindow window) || bind == null) {
            throw new RdmaException(Errno.EINVAL, SendChecks.OPERATION,
                    "the request names no memory window of this device to bind");
        }
        if (window.type() != MemoryWindowType.TYPE_2) {
            throw new RdmaException(Errno.EINVAL, SendChecks.OPERATION,
                    "a memory window of type 1 is"
                            + " bound by QueuePair.bindMemoryWindow, one of type 2 by a work request");
        }
        window.checkOpen();
        NativeMemoryRegion region = NativeMemoryRegion.own(bind.region(), domain.owner(),
                SendChecks.OPERATION);
        Native.putLong(chain, at + SendRequest.BIND_MW, window.pointer());
        Native.putInt(chain, at + SendRequest.BIND_RKEY, request.windowRkey());
        writeBind(chain, at + SendRequest.BIND_INFO - WindowBind.MR, region, bind);
        domain.owner().lock();
        try {
            window.bind(bind.length() == 0 ? null : region, request.windowRkey());
        } finally {
            domain.owner().unlock();
        }
    }

    /** Writes {@code struct ibv_mw_bind_info} where it lies in a {@code struct ibv_mw_bind}. */
    static void writeBind(MemorySegment target, long at, NativeMemoryRegion region,
            MemoryWindowBind bind) {
        Native.putLong(target, at + WindowBind.MR, region.pointer());
        Native.putLong(target, at + WindowBind.ADDR, bind.address());
        Native.putLong(target, at + WindowBind.LENGTH, bind.length());
        Native.putInt(target, at + WindowBind.ACCESS, AccessFlag.bits(bind.access()));
    }

    /**
     * Posts the chain.
     *
     * @throws Refused if the device refused one; those before it are posted
     */
    void post() throws Refused {
        int count = staged;
        staged = 0;
        if (count == 0) {
            return;
        }
        if (queuePair.isTooLate()) {
            flush(count);
        } else if (isExtendedStaged) {
            isExtendedStaged = false;
            postRuns(count);
        } else {
            postRun(0, count);
        }
    }

    private void flush(int count) {
        work.commit(count);
        NativeCompletionQueue completions = queuePair.sends();
        for (int i = 0; i < count; i++) {
            completions.flush(Native.getLong(chain, i * stride + SendRequest.WR_ID),
                    queuePair.number());
        }
        completions.onEvent();
    }

    /** Posts a chain in which are requests that the library takes in another way, one by one. */
    private void postRuns(int count) throws Refused {
        int from = 0;
        for (int i = 0; i < count; i++) {
            if (isExtended(i)) {
                postRun(from, i);
                postExtended(i);
                from = i + 1;
            }
        }
        postRun(from, count);
    }

    private boolean isExtended(int index) {
        int opcode = Native.getInt(chain, index * stride + SendRequest.OPCODE);
        return opcode == SendOpcode.FLUSH.code() || opcode == SendOpcode.ATOMIC_WRITE.code();
    }

    private void postExtended(int index) throws Refused {
        long at = index * stride;
        int flags = Native.getInt(chain, at + SendRequest.SEND_FLAGS) & ~SendFlag.INLINE.bit();
        int rkey = Native.getInt(chain, at + SendRequest.RDMA_RKEY);
        long address = Native.getLong(chain, at + SendRequest.REMOTE_ADDR);
        long id = Native.getLong(chain, at + SendRequest.WR_ID);
        if (extended == null) {
            throw new IllegalStateException("such a request is refused when it is staged");
        }
        work.commit(1);
        int result = Native.getInt(chain, at + SendRequest.OPCODE) == SendOpcode.FLUSH.code()
                ? extended.flush(id, flags, rkey, address,
                        Native.getLong(chain, at + FLUSH_LENGTH),
                        Native.getInt(chain, at + FLUSH_PLACEMENT),
                        Native.getInt(chain, at + FLUSH_SELECTIVITY))
                : extended.atomicWrite(id, flags, rkey, address,
                        chain.address() + at + inlineOffset);
        if (result != 0) {
            work.takeBack(1);
            throw refused(result, index);
        }
    }

    /** Posts requests of the chain with one call. */
    private void postRun(int from, int to) throws Refused {
        if (from == to) {
            return;
        }
        work.commit(to - from);
        Native.putLong(refused, 0, 0);
        Native.putLong(chain, (to - 1) * stride + SendRequest.NEXT, 0);
        int result = HotCalls.post(function, queue, chain.address() + from * stride,
                refused.address());
        if (result != 0) {
            int posted = postedBefore(from, to);
            work.takeBack(to - posted);
            throw refused(result, posted);
        }
    }

    private static Refused refused(int result, int posted) {
        return new Refused(ErrorNumbers.failure(SendChecks.OPERATION, Math.abs(result),
                "the device refused: the queue is full, or the request does not fit it"), posted);
    }

    /** {@return how many come before the one that the library points at} */
    private int postedBefore(int from, int to) {
        long distance = Native.getLong(refused, 0) - chain.address();
        boolean isOne = distance >= from * stride && distance % stride == 0
                && distance / stride < to;
        return isOne ? (int) (distance / stride) : from;
    }

    /** The device refused a request of a chain. */
    static final class Refused extends Exception {
        private static final long serialVersionUID = 1L;
        private final RdmaException why;
        private final int posted;

        Refused(RdmaException why, int posted) {
            super(why);
            this.why = why;
            this.posted = posted;
        }

        RdmaException why() {
            return why;
        }

        /** {@return how many were posted before it} */
        int posted() {
            return posted;
        }
    }
}
