// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.ibverbs.queue;

import io.rdma4j.ibverbs.abi.Layout;
import io.rdma4j.ibverbs.abi.Layout.SendRequest;
import io.rdma4j.ibverbs.abi.Layout.WindowBind;
import io.rdma4j.ibverbs.abi.Native;
import io.rdma4j.ibverbs.device.ContextServices;
import io.rdma4j.ibverbs.memory.DomainServices;
import io.rdma4j.ibverbs.memory.Elements;
import io.rdma4j.ibverbs.memory.MappedMemory;
import io.rdma4j.ibverbs.memory.NativeAddressHandle;
import io.rdma4j.ibverbs.memory.NativeMemoryRegion;
import io.rdma4j.ibverbs.memory.NativeMemoryWindow;
import io.rdma4j.ibverbs.memory.RegionLiveness;
import io.rdma4j.ibverbs.memory.StagedUse;
import io.rdma4j.ibverbs.work.OutstandingWork;
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

/** Send requests of a queue pair. */
public final class NativeSendPosting extends RequestChain<SendWorkRequest> {
    /**
     * The offset at which a staged FLUSH keeps a field that {@code struct ibv_send_wr} lacks; the library does not
     * read it.
     */
    private static final long FLUSH_LENGTH = SendRequest.SWAP;
    private static final long FLUSH_PLACEMENT = SendRequest.ATOMIC_RKEY;
    private static final long FLUSH_SELECTIVITY = FLUSH_PLACEMENT + Integer.BYTES;
    private static final int ATOMIC_WRITE_LENGTH = Long.BYTES;

    private final @Nullable ExtendedPosting extended;
    private final QueuePairServices queuePair;
    private final DomainServices domain;
    private final SendChecks checks;
    private final QueuePairType type;
    private final boolean isAllSignaled;
    private final long inlineOffset;
    private final long inlineRoom;
    private final MemorySegment chain;
    /** The object that each request of the chain uses and that must not be freed before it is posted. */
    private final @Nullable StagedUse[] uses;
    private int usesEnd;
    private boolean hasChecksums;

    NativeSendPosting(QueuePairServices queuePair, Arena arena, MemorySegment function, long tag,
            OutstandingWork work, SendChecks checks, @Nullable ExtendedPosting extended) {
        super(SendChecks.OPERATION, arena, queuePair.owner().owner().hotCalls(), function,
                queuePair.pointer(), tag, work,
                queuePair.owner().owner().faults().losesLateRequests(),
                queuePair.capabilities().maxSendRequests(),
                SendRequest.SIZE, elementsSize(queuePair.capabilities())
                        + inlineSize(queuePair.capabilities()));
        this.queuePair = queuePair;
        this.extended = extended;
        domain = queuePair.owner();
        this.checks = checks;
        type = queuePair.type();
        isAllSignaled = queuePair.isAllSignaled();
        inlineOffset = SendRequest.SIZE + elementsSize(queuePair.capabilities());
        inlineRoom = inlineSize(queuePair.capabilities());
        chain = chain();
        uses = new StagedUse[places()];
    }

    private static long elementsSize(QueuePairCapabilities sizes) {
        return Math.max(1, sizes.maxSendElements()) * Layout.Element.SIZE;
    }

    private static long inlineSize(QueuePairCapabilities sizes) {
        return (Math.max(ATOMIC_WRITE_LENGTH, sizes.maxInlineData()) + 7L) / 8 * 8;
    }

    @Override
    public void stage(SendWorkRequest request) throws RdmaException {
        // Read once, so that the checked value is the written one.
        SendOpcode opcode = request.opcode();
        int flags = request.flags();
        MemorySegment inline = request.inlineData();
        int elements = request.elements().count();
        checks.check(opcode, flags, elements,
                inline == null ? request.elements().totalLength() : inline.byteSize());
        if ((flags & SendFlag.IP_CHECKSUM.bit()) != 0) {
            requireChecksums();
        }
        long at = begin();
        boolean isCopied = (flags & SendFlag.INLINE.bit()) != 0
                || opcode == SendOpcode.ATOMIC_WRITE;
        int count = isCopied
                ? writeInline(request.elements(), elements, inline, at)
                : writeElements(request.elements(), elements, at);
        Native.putInt(chain, at + SendRequest.NUM_SGE, count);
        Native.putInt(chain, at + SendRequest.OPCODE, opcode.code());
        Native.putInt(chain, at + SendRequest.SEND_FLAGS, flags);
        writeOperands(request, opcode, at);
        boolean isSignaled = isAllSignaled || (flags & SendFlag.SIGNALED.bit()) != 0;
        if (ExtendedPosting.OPERATIONS.contains(opcode)) {
            endApart(request.id(), opcode.completionOpcode(), isSignaled);
        } else {
            end(request.id(), opcode.completionOpcode(), isSignaled);
        }
    }

    private void keep(StagedUse use) {
        uses[place()] = use;
        usesEnd = place() + 1;
    }

    /** In reverse order, so that a window that several of them bind gets the state before the first refused one. */
    @Override
    void letGo(int posted) {
        while (usesEnd > 0) {
            usesEnd--;
            StagedUse use = uses[usesEnd];
            uses[usesEnd] = null;
            if (use != null) {
                use.end(usesEnd < posted);
            }
        }
    }

    @Override
    boolean isTooLate() {
        return queuePair.isTooLate();
    }

    @Override
    boolean isLostMeanwhile() {
        return queuePair.isLostMeanwhile();
    }

    @Override
    public void flush(int late) {
        queuePair.flushSends(late);
    }

    @Override
    int postApart(long at) {
        if (extended == null) {
            throw new IllegalStateException("such a request is refused when it is staged");
        }
        int flags = Native.getInt(chain, at + SendRequest.SEND_FLAGS) & ~SendFlag.INLINE.bit();
        int rkey = Native.getInt(chain, at + SendRequest.RDMA_RKEY);
        long address = Native.getLong(chain, at + SendRequest.REMOTE_ADDR);
        long id = Native.getLong(chain, at + SendRequest.WR_ID);
        boolean isFlush = Native.getInt(chain, at + SendRequest.OPCODE) == SendOpcode.FLUSH.code();
        return isFlush
                ? extended.flush(id, flags, rkey, address,
                        Native.getLong(chain, at + FLUSH_LENGTH),
                        Native.getInt(chain, at + FLUSH_PLACEMENT),
                        Native.getInt(chain, at + FLUSH_SELECTIVITY))
                : extended.atomicWrite(id, flags, rkey, address,
                        chain.address() + at + inlineOffset);
    }

    /** Some drivers silently ignore an unsupported flag. */
    private void requireChecksums() throws RdmaException {
        if (!hasChecksums) {
            hasChecksums = domain.owner().queries().hasChecksums(type);
        }
        if (!hasChecksums) {
            throw RdmaException.unsupported(SendChecks.OPERATION, "queue pairs of type " + type
                    + " of this device fill in no check sums; IP_CHECKSUM is for raw packets");
        }
    }

    private void writeOperands(SendWorkRequest request, SendOpcode opcode, long at)
            throws RdmaException {
        // Cleared, because some drivers refuse a request with fields of another operation that an earlier request
        // has left.
        Native.putInt(chain, at + SendRequest.IMM_DATA, 0);
        switch (opcode) {
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
            }
            case ATOMIC_WRITE -> putRemote(request, at);
            default -> {
                // Only payload.
            }
        }
        if (type == QueuePairType.UD) {
            putDestination(request, at);
        } else if (type == QueuePairType.XRC_SEND) {
            Native.putInt(chain, at + SendRequest.REMOTE_SRQN,
                    request.remoteSharedReceiveQueueNumber());
        }
    }

    private int writeElements(ScatterGatherList elements, int count, long at)
            throws RdmaException {
        RegionLiveness.check(domain, elements, count, SendChecks.OPERATION);
        Elements.write(chain, at + SendRequest.SIZE, elements, count);
        return count;
    }

    private int writeInline(ScatterGatherList elements, int count, @Nullable MemorySegment data,
            long at) throws RdmaException {
        long length = data == null
                ? gather(elements, count, at + inlineOffset)
                : copy(data, 0, data.byteSize(), at + inlineOffset);
        Elements.write(chain, at + SendRequest.SIZE, chain.address() + at + inlineOffset, length,
                0);
        return length == 0 ? 0 : 1;
    }

    /** {@return how many bytes were copied} Reads only addresses of registered regions. */
    private long gather(ScatterGatherList elements, int count, long at) throws RdmaException {
        long copied = 0;
        for (int i = 0; i < count; i++) {
            long length = elements.length(i);
            if (length > inlineRoom - copied) {
                throw new RdmaException(Errno.EINVAL, SendChecks.OPERATION,
                        "the elements of the inline data were changed while they were posted");
            }
            if (length > 0) {
                NativeMemoryRegion region = domain.regions().find(elements.lkey(i));
                MemorySegment memory = region == null ? MemorySegment.NULL : region.segment();
                long offset = region == null ? -1 : elements.address(i) - region.address();
                if (offset < 0 || offset > memory.byteSize() - length) {
                    throw new RdmaException(Errno.EFAULT, SendChecks.OPERATION, "element " + i
                            + " of the inline data names no registered memory of the process; give its bytes with"
                            + " SendWorkRequest.inline instead");
                }
                copied += copy(memory, offset, length, at + copied);
            }
        }
        return copied;
    }

    /** {@return the length} */
    private long copy(MemorySegment source, long offset, long length, long at)
            throws RdmaException {
        try {
            MappedMemory.copy(source, offset, chain, at, length);
            return length;
        } catch (InternalError cutShort) {
            throw cutShort(cutShort);
        } catch (IllegalStateException | WrongThreadException unreadable) {
            throw unreadable(unreadable);
        }
    }

    /** {@return the error of inline data whose arena does not let it be read} */
    static RdmaException unreadable(RuntimeException cause) {
        String why = cause instanceof WrongThreadException
                ? "its arena is confined to another thread"
                : "its arena is closed";
        return new RdmaException(Errno.EFAULT, SendChecks.OPERATION,
                "the inline data cannot be read: " + why, cause);
    }

    /** {@return the error of inline data in a file that is shorter than the memory that maps it} */
    static RdmaException cutShort(InternalError cause) {
        return new RdmaException(Errno.EFAULT, SendChecks.OPERATION,
                "the file that the inline data maps was cut short", cause);
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
        handle.beginUse();
        keep(handle);
        Native.putLong(chain, at + SendRequest.AH, handle.pointer());
        Native.putInt(chain, at + SendRequest.REMOTE_QPN, request.remoteQueuePairNumber());
        // A privileged Q_Key means that of the queue pair, IBTA 10.2.5; not every driver implements this.
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
        ContextServices services = domain.owner();
        if (!window.owner().owner().equals(services)) {
            throw new RdmaException(Errno.EINVAL, SendChecks.OPERATION,
                    "the memory window is of another device context");
        }
        NativeMemoryRegion region = NativeMemoryRegion.own(bind.region(), services,
                SendChecks.OPERATION);
        if (!window.owner().isOneWith(domain) || !region.owner().isOneWith(domain)) {
            throw new RdmaException(Errno.EPERM, SendChecks.OPERATION,
                    "window, region and queue pair are not of one protection domain");
        }
        int key = request.windowRkey();
        services.lock();
        try {
            keep(WindowBinding.begin(this, window, region, bind.length() == 0 ? null : region,
                    key));
        } finally {
            services.unlock();
        }
        Native.putLong(chain, at + SendRequest.BIND_MW, window.pointer());
        Native.putInt(chain, at + SendRequest.BIND_RKEY, key);
        writeBind(chain, at + SendRequest.BIND_INFO - WindowBind.MR, region, bind);
    }

    /** Writes the {@code struct ibv_mw_bind_info} in a {@code struct ibv_mw_bind}. */
    static void writeBind(MemorySegment target, long at, NativeMemoryRegion region,
            MemoryWindowBind bind) {
        Native.putLong(target, at + WindowBind.MR, region.pointer());
        Native.putLong(target, at + WindowBind.ADDR, bind.address());
        Native.putLong(target, at + WindowBind.LENGTH, bind.length());
        Native.putInt(target, at + WindowBind.ACCESS, AccessFlag.bits(bind.access()));
    }
}
