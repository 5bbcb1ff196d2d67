package io.rdma4j.softnic.verbs;

import io.rdma4j.softnic.memory.KeyedMemory;
import io.rdma4j.softnic.memory.RegisteredMemory;
import io.rdma4j.softnic.memory.WindowMemory;
import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.MemoryWindow;
import io.rdma4j.verbs.MemoryWindowBind;
import io.rdma4j.verbs.MemoryWindowType;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.WorkCompletionStatus;
import org.jspecify.annotations.Nullable;

import java.util.concurrent.atomic.AtomicInteger;

/**
 * A memory window. Binding and invalidating are work of a queue pair and happen in its order; what they
 * change belongs to the engine's owner.
 */
final class SoftMemoryWindow implements MemoryWindow {
    private final SoftProtectionDomain domain;
    private final MemoryWindowType type;
    private final int id;
    private final AtomicInteger rkey;
    private @Nullable SoftMemoryRegion region;
    private @Nullable SoftQueuePair queuePair;
    private boolean isClosed;

    /** For the engine's owner. */
    SoftMemoryWindow(SoftProtectionDomain domain, MemoryWindowType type) {
        this.domain = domain;
        this.type = type;
        rkey = new AtomicInteger(domain.nic().newKey());
        id = KeyedMemory.id(rkey());
        domain.nic().memory().put(id, WindowMemory.unbound(rkey(), domain.root()));
        domain.nic().add(this);
    }

    @Override
    public ProtectionDomain protectionDomain() {
        return domain;
    }

    SoftProtectionDomain owner() {
        return domain;
    }

    @Override
    public MemoryWindowType type() {
        return type;
    }

    @Override
    public int rkey() {
        return rkey.get();
    }

    int id() {
        return id;
    }

    /**
     * Takes the next key for a bind of type 1 that is about to be posted: from its execution on the window answers to it.
     * Only posting changes what {@link #rkey} says, or two binds under way would get the same next key. Any thread.
     *
     * @return the key before it
     */
    int takeNextRkey() {
        return rkey.getAndUpdate(MemoryWindow::nextRkey);
    }

    /** The bind was refused: its key is free, unless somebody has taken another one since. */
    void giveBackRkeyAfter(int previous) {
        rkey.compareAndSet(MemoryWindow.nextRkey(previous), previous);
    }

    void checkOpen() {
        if (isClosed) {
            throw new IllegalStateException("the memory window is closed");
        }
    }

    // ---------------------------------------------------------------- for the engine's owner

    /** {@return whether a queue pair is the one it is bound to, under a key} */
    boolean isBoundTo(SoftQueuePair candidate, int key) {
        return type == MemoryWindowType.TYPE_2 && candidate.equals(queuePair) && key == rkey();
    }

    /** Binds it as a request of a queue pair asks. Source: IBTA 10.6.7.2.1, 10.6.7.2.2. */
    WorkCompletionStatus bind(SoftQueuePair binder, int newRkey, MemoryWindowBind bind) {
        if (!(bind.region() instanceof SoftMemoryRegion target) || isClosed || target.isClosed()
                || !domain.root().equals(binder.owner().root())
                || !domain.root().equals(target.owner().root())
                || KeyedMemory.id(newRkey) != id) {
            return WorkCompletionStatus.MEMORY_WINDOW_BIND_ERROR;
        }
        boolean isTypeTwo = type == MemoryWindowType.TYPE_2;
        if (bind.length() == 0) {
            if (isTypeTwo) {
                return WorkCompletionStatus.MEMORY_WINDOW_BIND_ERROR;
            }
            unbind();
            rebind(newRkey, WindowMemory.unbound(newRkey, domain.root()));
            return WorkCompletionStatus.SUCCESS;
        }
        boolean isBoundAlready = isTypeTwo && region != null;
        if (isBoundAlready || !allows(target.memory(), bind)) {
            return WorkCompletionStatus.MEMORY_WINDOW_BIND_ERROR;
        }
        unbind();
        region = target;
        queuePair = isTypeTwo ? binder : null;
        target.children().add("memory window");
        rebind(newRkey, WindowMemory.bound(newRkey, domain.root(),
                isTypeTwo ? binder.number() : WindowMemory.ANY_QUEUE_PAIR, target.memory(),
                bind.address(), bind.access().contains(AccessFlag.ZERO_BASED) ? 0 : bind.address(),
                bind.length(), AccessFlag.bits(bind.access())));
        return WorkCompletionStatus.SUCCESS;
    }

    private static boolean allows(RegisteredMemory under, MemoryWindowBind bind) {
        boolean isWritten = bind.access().contains(AccessFlag.REMOTE_WRITE)
                || bind.access().contains(AccessFlag.REMOTE_ATOMIC);
        return (under.access() & AccessFlag.MW_BIND.bit()) != 0
                && (!isWritten || (under.access() & AccessFlag.LOCAL_WRITE.bit()) != 0)
                && under.covers(bind.address(), bind.length());
    }

    private void rebind(int newRkey, WindowMemory memory) {
        if (type == MemoryWindowType.TYPE_2) {
            rkey.set(newRkey);
        }
        domain.nic().memory().put(id, memory);
    }

    /** Ends the peer's access. */
    void invalidate() {
        unbind();
        domain.nic().memory().put(id, WindowMemory.unbound(rkey(), domain.root()));
    }

    private void unbind() {
        SoftMemoryRegion under = region;
        region = null;
        queuePair = null;
        if (under != null) {
            under.children().remove("memory window");
        }
    }

    /** A queue pair is reset or closed: what it has bound is bound no longer. */
    void forget(SoftQueuePair gone) {
        if (gone.equals(queuePair)) {
            invalidate();
        }
    }

    @Override
    public void close() throws RdmaException {
        domain.nic().driver().run(nowNs -> {
            if (!isClosed) {
                isClosed = true;
                unbind();
                domain.nic().memory().remove(id);
                domain.nic().remove(this);
                domain.children().remove("memory window");
                domain.nic().totals().remove("memory window");
            }
        });
    }
}
