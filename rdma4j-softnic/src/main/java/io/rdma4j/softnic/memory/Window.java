// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.memory;

import io.rdma4j.verbs.MemoryWindow;
import io.rdma4j.verbs.MemoryWindowType;
import org.jspecify.annotations.Nullable;

import java.util.concurrent.atomic.AtomicInteger;

/** A memory window: its key, and the range that it is bound to. For the engine's owner; any thread may read the key. */
public final class Window {
    final Object domain;
    final MemoryWindowType type;
    private final int id;
    private final MemoryWindow handle;
    private final AtomicInteger rkey;
    @Nullable
    RegisteredMemory region;
    /** The number of the queue pair that has bound it, for type 2. */
    int queuePair = WindowMemory.ANY_QUEUE_PAIR;

    Window(MemoryWindow handle, Object domain, MemoryWindowType type, int key) {
        this.handle = handle;
        this.domain = domain;
        this.type = type;
        rkey = new AtomicInteger(key);
        id = KeyedMemory.id(key);
    }

    int id() {
        return id;
    }

    /** {@return the application's object} */
    MemoryWindow handle() {
        return handle;
    }

    /** {@return its key} */
    public int rkey() {
        return rkey.get();
    }

    /**
     * Takes the next key for a bind of type 1 that is about to be posted; the key is valid once the bind is executed. Only
     * posting changes {@link #rkey}: otherwise two outstanding binds would get the same next key. For any thread.
     *
     * @return the key before it
     */
    public int takeNextRkey() {
        return rkey.getAndUpdate(MemoryWindow::nextRkey);
    }

    /** The bind was refused: its key becomes free, unless another one has been taken since. */
    public void giveBackRkeyAfter(int previous) {
        rkey.compareAndSet(MemoryWindow.nextRkey(previous), previous);
    }

    /** A bind of type 2 has given it a key. */
    void rekey(int newRkey) {
        rkey.set(newRkey);
    }

    /** {@return whether a queue pair is the one it is bound to, under a key} */
    boolean isBoundTo(int candidate, int key) {
        return type == MemoryWindowType.TYPE_2 && region != null && candidate == queuePair
                && key == rkey();
    }
}
