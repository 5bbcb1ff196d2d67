package io.rdma4j.softnic.verbs;

import io.rdma4j.protocol.work.SendRequest;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.MemoryWindow;
import io.rdma4j.verbs.MemoryWindowBind;
import io.rdma4j.verbs.MemoryWindowType;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.SendFlag;
import io.rdma4j.verbs.SendOpcode;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.WorkCompletionStatus;

/** What a queue pair does with memory windows: it binds them and invalidates their keys. */
final class QueuePairWindows {
    private final SoftQueuePair queuePair;
    private final SoftProtectionDomain domain;
    private final SendPosting posting;

    QueuePairWindows(SoftQueuePair queuePair, SendPosting posting) {
        this.queuePair = queuePair;
        domain = queuePair.owner();
        this.posting = posting;
    }

    /** Posts the bind of a window of type 1; those of type 2 are posted as any other request. */
    void postBind(MemoryWindow window, long requestId, MemoryWindowBind bind, boolean signaled)
            throws RdmaException {
        String operation = "bind memory window";
        if (!(window instanceof SoftMemoryWindow own) || own.type() != MemoryWindowType.TYPE_1) {
            throw new RdmaException(Errno.EINVAL, operation,
                    "only a window of type 1 of this device is bound here, not " + window.type());
        }
        if (!own.owner().root().equals(domain.root())
                || !(bind.region() instanceof SoftMemoryRegion region)
                || !region.owner().root().equals(domain.root())) {
            throw new RdmaException(Errno.EPERM, operation,
                    "window, region and queue pair are not of one protection domain");
        }
        own.checkOpen();
        posting.postBind(own, newRkey -> new SendWorkRequest().id(requestId)
                .bind(own, newRkey, bind).set(SendFlag.SIGNALED, signaled));
    }

    // ---------------------------------------------------------------- for the engine's owner

    /** Carries out a bind or an invalidation. {@return how it ended} */
    WorkCompletionStatus carryOut(SendRequest request) {
        if (request.opcode() == SendOpcode.LOCAL_INVALIDATE) {
            return invalidate(request.invalidateRkey())
                    ? WorkCompletionStatus.SUCCESS
                    : WorkCompletionStatus.LOCAL_QP_OPERATION_ERROR;
        }
        MemoryWindowBind bind = request.windowBind();
        return request.window() instanceof SoftMemoryWindow window && bind != null
                ? window.bind(queuePair, request.windowRkey(), bind)
                : WorkCompletionStatus.MEMORY_WINDOW_BIND_ERROR;
    }

    /** {@return whether the key was of a window that this queue pair had bound, and is invalid now} */
    boolean invalidate(int rkey) {
        SoftMemoryWindow window = domain.nic().window(rkey);
        if (window == null || !window.isBoundTo(queuePair, rkey)) {
            return false;
        }
        window.invalidate();
        return true;
    }

    /** The queue pair starts anew or ends: what it has bound is bound no longer. */
    void forgetAll() {
        domain.nic().forgetBinds(queuePair);
    }
}
