package io.rdma4j.softnic.device;

import io.rdma4j.verbs.RdmaException;
import org.jspecify.annotations.Nullable;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The devices that are open, one under each name, and how many contexts share each. Opening and closing exclude each
 * other only for the same name, so a device that opens or closes slowly does not delay others.
 */
final class OpenDevices {
    /** Opens a device. */
    interface Opener {
        SoftNic open() throws RdmaException;
    }

    /** Joins a device that is open already, or refuses to. */
    interface Joiner {
        void join(SoftNic nic) throws RdmaException;
    }

    /** Never removed: there are few names. */
    private static final class Slot {
        final ReentrantLock lock = new ReentrantLock();
        /** Null if no device is open, or if its interface was removed. */
        @Nullable
        SoftNic nic;
    }

    private final Map<String, Slot> slots = new ConcurrentHashMap<>();

    /** {@return the open device of this name with a context more, opened or joined} */
    SoftNic open(String name, Opener opener, Joiner joiner) throws RdmaException {
        Slot slot = slot(name);
        slot.lock.lock();
        try {
            SoftNic nic = slot.nic;
            if (nic == null) {
                nic = opener.open();
                slot.nic = nic;
            } else {
                joiner.join(nic);
            }
            nic.addContext();
            return nic;
        } finally {
            slot.lock.unlock();
        }
    }

    /** A context is closed: with the last one the device. */
    void release(SoftNic nic) {
        Slot slot = slot(nic.name());
        slot.lock.lock();
        try {
            if (nic.removeContext() == 0) {
                if (slot.nic == nic) {
                    slot.nic = null;
                }
                nic.close();
            }
        } finally {
            slot.lock.unlock();
        }
    }

    /** Forgets a device whose interface was removed: opening a device of that name now creates a new one. */
    void forget(SoftNic nic) {
        Slot slot = slot(nic.name());
        slot.lock.lock();
        try {
            if (slot.nic == nic) {
                slot.nic = null;
            }
        } finally {
            slot.lock.unlock();
        }
    }

    /** The process ends. */
    void closeAll() {
        for (Slot slot : slots.values()) {
            slot.lock.lock();
            try {
                SoftNic nic = slot.nic;
                slot.nic = null;
                if (nic != null) {
                    nic.shutDown();
                }
            } finally {
                slot.lock.unlock();
            }
        }
    }

    private Slot slot(String name) {
        return slots.computeIfAbsent(name, key -> new Slot());
    }
}
