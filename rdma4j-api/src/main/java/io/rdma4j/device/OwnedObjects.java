// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.device;

import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaDevice;
import io.rdma4j.verbs.RdmaException;
import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.SequencedSet;

/**
 * The open objects of a device context, which closes them all for {@link io.rdma4j.verbs.DeviceContext#closeAll}. An object adds
 * itself when it is made and removes itself when it is closed. Thread safe; its lock is never held during a call of an object.
 */
public final class OwnedObjects {
    /** How an object is closed. */
    @FunctionalInterface
    public interface Owned extends AutoCloseable {
        @Override
        void close() throws RdmaException;
    }

    private final Map<ObjectKind, SequencedSet<AutoCloseable>> open = new EnumMap<>(
            ObjectKind.class);

    /** Of a context that has none yet. */
    public OwnedObjects() {}

    /** {@return the refusal to close everything of a context that the ids of the connection manager share} */
    public static RdmaException sharedByIds(RdmaDevice device) {
        return new RdmaException(Errno.EBUSY, "close everything of device",
                "all ids of this process share this context of "
                        + device.name()
                        + "; close the ids, or open the device for a context of your own");
    }

    /** An object was made. */
    public synchronized void add(ObjectKind kind, AutoCloseable object) {
        open.computeIfAbsent(kind, _ -> new LinkedHashSet<>()).add(object);
    }

    /** An object was closed. */
    public synchronized void remove(ObjectKind kind, AutoCloseable object) {
        SequencedSet<AutoCloseable> ofKind = open.get(kind);
        if (ofKind != null) {
            ofKind.remove(object);
        }
    }

    private synchronized List<AutoCloseable> newestFirst(ObjectKind kind) {
        SequencedSet<AutoCloseable> ofKind = open.get(kind);
        return ofKind == null ? List.of() : new ArrayList<>(ofKind.reversed());
    }

    /**
     * Closes all objects, by kind, of a kind the newest first, and then their context. One that cannot be closed does not keep the
     * others open; the context stays open then.
     *
     * @throws RdmaException the first failure, EBUSY for an object that is in use, the others suppressed
     */
    public void closeAll(Owned context) throws RdmaException {
        Exception first = null;
        for (ObjectKind kind : ObjectKind.values()) {
            for (AutoCloseable object : newestFirst(kind)) {
                first = joined(first, failureOf(object));
            }
        }
        switch (first) {
            case null -> context.close();
            case RdmaException e -> throw e;
            case RuntimeException e -> throw e;
            default -> throw new IllegalStateException(first);
        }
    }

    private static @Nullable Exception failureOf(AutoCloseable object) {
        try {
            object.close();
            return null;
        } catch (Exception e) {
            return e;
        }
    }

    private static @Nullable Exception joined(@Nullable Exception first, @Nullable Exception next) {
        if (first == null) {
            return next;
        }
        if (next != null) {
            first.addSuppressed(next);
        }
        return first;
    }
}
