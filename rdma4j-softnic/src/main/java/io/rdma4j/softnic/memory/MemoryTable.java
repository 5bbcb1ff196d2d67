// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.memory;

import io.rdma4j.spi.IdTable;
import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.MemoryWindow;
import io.rdma4j.verbs.MemoryWindowBind;
import io.rdma4j.verbs.MemoryWindowType;
import io.rdma4j.verbs.WorkCompletionStatus;
import org.jspecify.annotations.Nullable;

import java.util.HashMap;
import java.util.Map;
import java.util.function.IntSupplier;

/**
 * The memory of a device by key: regions, and windows bound to them. Any thread may look up a key; only the engine's
 * owner may change the table.
 */
public final class MemoryTable {
    private final IdTable<KeyedMemory> byKey;
    private final IntSupplier random;
    private volatile LendableMemory lendable = LendableMemory.NONE;
    private final Map<Integer, Window> windows = new HashMap<>();
    /** By the identifier of a region. */
    private final Map<Integer, Integer> boundWindows = new HashMap<>();

    /** @param random numbers that others cannot guess */
    public MemoryTable(IntSupplier random) {
        this.random = random;
        byKey = new IdTable<>(random);
    }

    /** The device can lend memory. Before anything is registered. */
    public void lend(LendableMemory newLendable) {
        lendable = newLendable;
    }

    /** {@return the memory that the device can lend} For any thread. */
    public LendableMemory lendable() {
        return lendable;
    }

    IdTable<KeyedMemory> byKey() {
        return byKey;
    }

    /** {@return a key for new memory, with a new tag} */
    public int newKey() {
        return byKey.newId(1) << 8 | (random.getAsInt() & 0xff);
    }

    /** {@return the memory with the identifier of a key, whose tag may differ by now; null if there is none} */
    public @Nullable KeyedMemory find(int key) {
        return byKey.find(KeyedMemory.id(key));
    }

    /** A region is registered, or registered anew under its key. */
    public void put(RegisteredMemory region) {
        replace(KeyedMemory.id(region.key()), region);
    }

    /** A region is registered no longer. */
    public void remove(RegisteredMemory region) {
        byKey.remove(KeyedMemory.id(region.key()));
        lendable.ended(region);
    }

    private void replace(int id, KeyedMemory next) {
        KeyedMemory before = byKey.find(id);
        byKey.put(id, next);
        if (before != null) {
            lendable.ended(before);
        }
    }

    // ---------------------------------------------------------------- windows

    /** {@return a new window, not bound} */
    public Window newWindow(MemoryWindow handle, Object domain, MemoryWindowType type) {
        Window window = new Window(handle, domain, type, newKey());
        windows.put(window.id(), window);
        byKey.put(window.id(), WindowMemory.unbound(window.rkey(), domain));
        return window;
    }

    /** A window ends. */
    public void remove(Window window) {
        unbind(window);
        windows.remove(window.id());
        KeyedMemory before = byKey.find(window.id());
        byKey.remove(window.id());
        if (before != null) {
            lendable.ended(before);
        }
    }

    /** {@return how many windows are bound to a region} */
    public int windowsBoundTo(RegisteredMemory region) {
        return boundWindows.getOrDefault(KeyedMemory.id(region.key()), 0);
    }

    /** Unbinds the windows that a queue pair has bound, because it is reset or closed. */
    public void forgetBindsOf(int queuePair) {
        for (Window window : windows.values()) {
            if (window.region != null && window.queuePair == queuePair) {
                invalidate(window);
            }
        }
    }

    /**
     * Binds a window as a request of a queue pair asks. Source: IBTA 10.6.7.2.1, 10.6.7.2.2.
     *
     * @param domain the queue pair's
     * @return the completion status of the request
     */
    WorkCompletionStatus bind(MemoryWindow handle, int newRkey, MemoryWindowBind bind,
            Object domain, int queuePair) {
        Window window = windows.get(KeyedMemory.id(newRkey));
        int regionKey = bind.region().lkey();
        if (window == null || !window.handle().equals(handle) || !window.domain.equals(domain)
                || !(find(regionKey) instanceof RegisteredMemory region)
                || region.key() != regionKey || !region.domain().equals(domain)) {
            return WorkCompletionStatus.MEMORY_WINDOW_BIND_ERROR;
        }
        boolean isTypeTwo = window.type == MemoryWindowType.TYPE_2;
        if (bind.length() == 0) {
            if (isTypeTwo) {
                return WorkCompletionStatus.MEMORY_WINDOW_BIND_ERROR;
            }
            unbind(window);
            rebind(window, newRkey, WindowMemory.unbound(newRkey, domain));
            return WorkCompletionStatus.SUCCESS;
        }
        boolean isBoundAlready = isTypeTwo && window.region != null;
        if (isBoundAlready || !allows(region, bind)) {
            return WorkCompletionStatus.MEMORY_WINDOW_BIND_ERROR;
        }
        unbind(window);
        window.region = region;
        window.queuePair = isTypeTwo ? queuePair : WindowMemory.ANY_QUEUE_PAIR;
        boundWindows.merge(KeyedMemory.id(regionKey), 1, Integer::sum);
        rebind(window, newRkey, WindowMemory.bound(newRkey, domain, window.queuePair, region,
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

    private void rebind(Window window, int newRkey, WindowMemory memory) {
        if (window.type == MemoryWindowType.TYPE_2) {
            window.rekey(newRkey);
        }
        replace(window.id(), memory);
    }

    /** {@return whether the key was of a window that a queue pair had bound, and is invalid now} */
    boolean invalidate(int rkey, int queuePair) {
        Window window = windows.get(KeyedMemory.id(rkey));
        if (window == null || !window.isBoundTo(queuePair, rkey)) {
            return false;
        }
        invalidate(window);
        return true;
    }

    /** Ends the peer's access. */
    private void invalidate(Window window) {
        unbind(window);
        replace(window.id(), WindowMemory.unbound(window.rkey(), window.domain));
    }

    private void unbind(Window window) {
        RegisteredMemory under = window.region;
        window.region = null;
        window.queuePair = WindowMemory.ANY_QUEUE_PAIR;
        if (under != null) {
            boundWindows.computeIfPresent(KeyedMemory.id(under.key()),
                    (id, count) -> count == 1 ? null : count - 1);
        }
    }
}
