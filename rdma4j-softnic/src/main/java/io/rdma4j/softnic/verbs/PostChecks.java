// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.verbs;

import io.rdma4j.device.PostRules;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.MemoryWindow;
import io.rdma4j.verbs.MemoryWindowBind;
import io.rdma4j.verbs.MemoryWindowType;
import io.rdma4j.verbs.QueuePairCapabilities;
import io.rdma4j.verbs.QueuePairState;
import io.rdma4j.verbs.QueuePairType;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.ReceiveWorkRequest;
import io.rdma4j.verbs.SendFlag;
import io.rdma4j.verbs.SendOpcode;
import io.rdma4j.verbs.SendWorkRequest;

import java.lang.foreign.MemorySegment;

/** The checks of a request when it is posted; all other errors are reported by its completion. */
final class PostChecks {
    static final String SEND = PostRules.SEND;
    static final String RECEIVE = PostRules.RECEIVE;
    private static final String BIND = "bind memory window";

    private PostChecks() {}

    /** {@return whether {@link PostRules#requireSendState} allows a state} */
    static boolean isForSends(QueuePairState state) {
        return switch (state) {
            case RTS, SQD, SQE, ERR -> true;
            case RESET, INIT, RTR -> false;
        };
    }

    /**
     * @param length the payload length in bytes
     * @param bindable the type of memory window that the request may bind
     */
    static void check(SendWorkRequest request, long length, SoftQueuePairServices queuePair,
            QueuePairCapabilities sizes, MemoryWindowType bindable) throws RdmaException {
        PostRules.requireSendState(queuePair.state(), SEND);
        if (!queuePair.offered().contains(request.opcode())) {
            throw queuePair.domain().nic().transport().notOffered(SEND, queuePair.type(),
                    request.opcode());
        }
        if (request.has(SendFlag.FENCE) && queuePair.type() != QueuePairType.RC) {
            throw new RdmaException(Errno.EINVAL, SEND, "FENCE waits for READs and atomics, which"
                    + " queue pairs of type " + queuePair.type()
                    + " cannot do; it is for type RC alone");
        }
        if (request.has(SendFlag.IP_CHECKSUM)) {
            throw RdmaException.unsupported(SEND, "IP_CHECKSUM is for raw packets");
        }
        PostRules.requireElements(request.elements().count(), sizes.maxSendElements(),
                "queue pair", SEND);
        if (request.has(SendFlag.INLINE)) {
            checkInline(length, request.opcode(), sizes.maxInlineData());
        }
        if (length > Limits.MESSAGE) {
            throw new RdmaException(Errno.EMSGSIZE, SEND, "the message has " + length
                    + " bytes; at most " + Limits.MESSAGE + " are possible");
        }
        checkOperation(request, length, bindable);
        if (queuePair.type() == QueuePairType.UD) {
            checkDatagram(request, queuePair, length);
        }
    }

    /** {@return bytes of payload} */
    static long length(SendWorkRequest request) {
        MemorySegment inline = request.inlineData();
        return inline == null ? request.elements().totalLength() : inline.byteSize();
    }

    /** Whether inline data fits. */
    static void checkInline(long length, SendOpcode opcode, int most) throws RdmaException {
        if (opcode == SendOpcode.RDMA_READ || opcode == SendOpcode.ATOMIC_COMPARE_AND_SWAP
                || opcode == SendOpcode.ATOMIC_FETCH_AND_ADD) {
            throw new RdmaException(Errno.EINVAL, SEND,
                    opcode + " has no payload that could be inline");
        }
        if (length > most) {
            throw new RdmaException(Errno.EINVAL, SEND, "the request has " + length
                    + " bytes of inline data; the queue pair was created for " + most
                    + ": ask for more with QueuePairCapabilities.withInlineData, or post a"
                    + " registered region");
        }
    }

    private static void checkOperation(SendWorkRequest request, long length,
            MemoryWindowType bindable) throws RdmaException {
        switch (request.opcode()) {
            case ATOMIC_COMPARE_AND_SWAP, ATOMIC_FETCH_AND_ADD, ATOMIC_WRITE ->
                checkAtomic(request, length);
            case FLUSH -> {
                checkEmpty(request);
                if (request.flushPlacement() == 0) {
                    throw new RdmaException(Errno.EINVAL, SEND,
                            "a FLUSH needs a placement: GLOBAL, PERSISTENT or both");
                }
            }
            case LOCAL_INVALIDATE -> checkEmpty(request);
            case BIND_MEMORY_WINDOW -> {
                checkEmpty(request);
                checkBind(request, bindable);
            }
            case SEND, SEND_WITH_IMMEDIATE, SEND_WITH_INVALIDATE, RDMA_WRITE,
                    RDMA_WRITE_WITH_IMMEDIATE, RDMA_READ -> {
                // Any length will do.
            }
        }
    }

    private static void checkAtomic(SendWorkRequest request, long length) throws RdmaException {
        if (length != Long.BYTES) {
            throw new RdmaException(Errno.EINVAL, SEND, request.opcode() + " concerns 8 bytes,"
                    + " so its elements must have 8, not " + length);
        }
        if ((request.remoteAddress() & 7) != 0) {
            throw new RdmaException(Errno.EINVAL, SEND,
                    String.format("%s needs a remote address that is a multiple of 8, not 0x%x",
                            request.opcode(), request.remoteAddress()));
        }
    }

    private static void checkEmpty(SendWorkRequest request) throws RdmaException {
        if (request.elements().count() > 0 || request.inlineData() != null) {
            throw new RdmaException(Errno.EINVAL, SEND,
                    request.opcode() + " has no payload; the request must have no elements");
        }
    }

    private static void checkBind(SendWorkRequest request, MemoryWindowType bindable)
            throws RdmaException {
        MemoryWindowBind bind = request.windowBind();
        if (!(request.window() instanceof SoftMemoryWindow window) || bind == null) {
            throw new RdmaException(Errno.EINVAL, SEND,
                    "the request names no memory window of this device to bind");
        }
        if (!(bind.region() instanceof SoftMemoryRegion)) {
            throw new RdmaException(Errno.EINVAL, SEND,
                    "the region to bind the memory window to is of another device");
        }
        if (window.type() != bindable) {
            throw new RdmaException(Errno.EINVAL, SEND, "a memory window of type 1 is bound by"
                    + " QueuePair.bindMemoryWindow, one of type 2 by a work request");
        }
    }

    /** Checks that a queue pair may bind a window of type 1 to a region. {@return the window} */
    static SoftMemoryWindow checkBindOfTypeOne(MemoryWindow window, MemoryWindowBind bind,
            SoftDomainServices domain) throws RdmaException {
        if (!(window instanceof SoftMemoryWindow own) || own.type() != MemoryWindowType.TYPE_1) {
            throw new RdmaException(Errno.EINVAL, BIND,
                    "only a window of type 1 of this device is bound here, not " + window.type());
        }
        if (!own.owner().root().equals(domain.root())
                || !(bind.region() instanceof SoftMemoryRegion region)
                || !region.owner().root().equals(domain.root())) {
            throw new RdmaException(Errno.EPERM, BIND,
                    "window, region and queue pair are not of one protection domain");
        }
        own.checkOpen();
        return own;
    }

    private static void checkDatagram(SendWorkRequest request, SoftQueuePairServices queuePair,
            long length) throws RdmaException {
        if (!(request.addressHandle() instanceof SoftAddressHandle handle)) {
            throw new RdmaException(Errno.EINVAL, SEND,
                    "a datagram needs an address handle of this device");
        }
        handle.checkOpen();
        if (!handle.owner().root().equals(queuePair.domain().root())) {
            throw new RdmaException(Errno.EINVAL, SEND,
                    "the address handle is of another protection domain than the queue pair");
        }
        int longest = queuePair.datagramLength();
        if (length > longest) {
            throw new RdmaException(Errno.EMSGSIZE, SEND, "the datagram has " + length
                    + " bytes; at most " + longest + " fit into a packet on this interface");
        }
    }

    static void check(ReceiveWorkRequest request, QueuePairState state, int maxElements)
            throws RdmaException {
        if (state == QueuePairState.RESET) {
            throw new RdmaException(Errno.EINVAL, RECEIVE,
                    "the queue pair is in state RESET; receives need INIT or later");
        }
        PostRules.requireElements(request.elements().count(), maxElements, "queue pair",
                RECEIVE);
    }

    static RdmaException untaken(long count) {
        return new RdmaException(Errno.ENOMEM, SEND, "the queue is full: of " + count
                + " requests no completion was taken, and their completion queue has no room for more; take completions first");
    }

    static RdmaException full(boolean isSend, int capacity) {
        return new RdmaException(Errno.ENOMEM, isSend ? SEND : RECEIVE, "the queue is full: all "
                + capacity + " requests are outstanding; take completions first");
    }
}
