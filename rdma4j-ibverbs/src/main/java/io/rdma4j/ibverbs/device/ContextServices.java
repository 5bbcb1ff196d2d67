// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.ibverbs.device;

import io.rdma4j.device.ChildCounts;
import io.rdma4j.device.OwnedObjects;
import io.rdma4j.ibverbs.abi.HotCalls;
import io.rdma4j.ibverbs.abi.Layout.Context;
import io.rdma4j.ibverbs.abi.Library;
import io.rdma4j.ibverbs.abi.Native;
import io.rdma4j.ibverbs.abi.SystemSymbol;
import io.rdma4j.ibverbs.abi.VerbsSymbol;
import io.rdma4j.ibverbs.work.WorkLedgers;
import io.rdma4j.spi.InfinibandTransitions;
import io.rdma4j.spi.QueuePairTransitions;
import io.rdma4j.verbs.DeviceAttributes;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.Gid;
import io.rdma4j.verbs.QueuePairState;
import io.rdma4j.verbs.RdmaClosedException;
import io.rdma4j.verbs.RdmaDevice;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.TransportType;
import org.jspecify.annotations.Nullable;

import java.lang.foreign.Arena;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;

/**
 * What the objects of an open device need of it: the library's calls, its lock, its events, its queries, and what is counted. It
 * knows none of these objects.
 */
public final class ContextServices {
    private final DeviceContext context;
    private final RdmaDevice device;
    private final NativeLibraries libraries;
    private final long pointer;
    private final DriverFaults faults;
    private final int completionVectors;
    private final int ports;
    private final ContextFunctions functions;
    private final DeviceEvents events;
    private final DeviceQueries queries;
    private final HotCalls hotCalls;
    private final ReentrantLock lock = new ReentrantLock();
    private final ChildCounts children = new ChildCounts(this::onReleased);
    private final OwnedObjects owned = new OwnedObjects();
    private final Set<BoundWindow> windows = new HashSet<>();
    private final WorkLedgers ledgers = new WorkLedgers();
    private final StateRecords states = new StateRecords();
    private volatile GroupLids groupLids = (group, port) -> 0;
    private volatile @Nullable Runnable whenReleased;
    private volatile boolean isClosed;

    /** Finds the LID of a group that an id has joined by a port. */
    @FunctionalInterface
    public interface GroupLids {
        /** {@return the LID, 0 if no id has joined the group or the link has no LIDs} */
        int of(Gid group, int port);
    }

    /**
     * Takes over a device that the library has opened.
     *
     * @param context the API's view of it; only passed on
     * @param pointer the address of its {@code ibv_context}; closed if this fails
     * @param gidFiles the kernel's information on its GIDs
     */
    public ContextServices(DeviceContext context, RdmaDevice device, NativeLibraries libraries,
            long pointer,
            GidFiles gidFiles) throws RdmaException {
        this.context = context;
        this.device = device;
        this.libraries = libraries;
        this.pointer = pointer;
        boolean isOpen = false;
        try {
            functions = new ContextFunctions(pointer);
            completionVectors = Native.getInt(Native.at(pointer, Context.SIZE),
                    Context.COMPLETION_VECTORS);
            queries = new DeviceQueries(this, completionVectors, gidFiles);
            DeviceAttributes attributes = queries.device();
            ports = attributes.physicalPortCount();
            CallChoice.requireLocks(attributes, System.getenv());
            hotCalls = CallChoice.of(attributes);
            faults = DriverFaults.of(attributes);
            events = new DeviceEvents(this, libraries);
            isOpen = true;
        } finally {
            if (!isOpen) {
                verbs().get(VerbsSymbol.CLOSE_DEVICE).call(pointer);
            }
        }
    }

    /** {@return the context, for objects to answer with} */
    public DeviceContext context() {
        return context;
    }

    public RdmaDevice device() {
        return device;
    }

    public Library<VerbsSymbol> verbs() {
        return libraries.verbs();
    }

    public Library<SystemSymbol> system() {
        return libraries.system();
    }

    public long pointer() {
        return pointer;
    }

    public int completionVectors() {
        return completionVectors;
    }

    /** {@return how many ports it has} */
    public int ports() {
        return ports;
    }

    public ContextFunctions functions() {
        return functions;
    }

    public DriverFaults faults() {
        return faults;
    }

    /** {@return how it is posted to and polled} */
    public HotCalls hotCalls() {
        return hotCalls;
    }

    public WorkLedgers ledgers() {
        return ledgers;
    }

    /** {@return its windows that are not closed} Under its lock. */
    public Set<BoundWindow> windows() {
        return windows;
    }

    public ChildCounts children() {
        return children;
    }

    /** {@return its open objects} */
    public OwnedObjects owned() {
        return owned;
    }

    public DeviceEvents events() {
        return events;
    }

    public DeviceQueries queries() {
        return queries;
    }

    /** {@return the states of its queue pairs as they are recorded} */
    public StateRecords states() {
        return states;
    }

    // ---------------------------------------------------------------- what the transport decides

    public boolean isIwarp() {
        return device.transport() == TransportType.IWARP;
    }

    /** {@return whether the driver does not report the state of a queue pair, as siw's of rdma-core 44} */
    public boolean isStateKept() {
        return isIwarp();
    }

    /** {@return the state of a new queue pair} An RNIC has none before INIT. */
    public QueuePairState firstState() {
        return isIwarp() ? QueuePairState.INIT : QueuePairState.RESET;
    }

    public QueuePairTransitions transitions() {
        return isIwarp() ? KernelIwarpTransitions.INSTANCE : InfinibandTransitions.INSTANCE;
    }

    /** {@return the LID of a group that an id has joined by a port, 0 if none has or the link has no LIDs} */
    public int groupLid(Gid group, int port) {
        return groupLids.of(group, port);
    }

    /** The connection manager knows the groups from now on. */
    public void groupLids(GroupLids found) {
        groupLids = found;
    }

    // ---------------------------------------------------------------- lock and life

    /** A call with its own memory, while the device is open. */
    public interface Call<T> {
        T with(Arena arena) throws RdmaException;
    }

    public <T> T inCall(Call<T> call) throws RdmaException {
        lock.lock();
        try (Arena arena = Arena.ofConfined()) {
            checkOpen();
            return call.with(arena);
        } finally {
            lock.unlock();
        }
    }

    public void lock() {
        lock.lock();
    }

    public void unlock() {
        lock.unlock();
    }

    public boolean isClosed() {
        return isClosed;
    }

    public void checkOpen() throws RdmaException {
        if (isClosed) {
            throw RdmaClosedException.of("device context");
        }
    }

    /** The last object of the context, or of one of its domains, was closed. */
    public void onReleased() {
        Runnable retry = whenReleased;
        if (retry != null && !isClosed) {
            // Not a virtual thread: the task may close the device by blocking calls, which would occupy the carrier.
            Thread.ofPlatform().daemon().name("rdma4j-release").start(retry);
        }
    }

    public void whenReleased(Runnable retry) {
        whenReleased = retry;
    }

    /**
     * Marks it as closed.
     *
     * @return false if it was
     * @throws RdmaException EBUSY if objects depend on it
     */
    public boolean beginClose(String operation) throws RdmaException {
        lock.lock();
        try {
            if (isClosed) {
                return false;
            }
            children.requireNone(operation);
            isClosed = true;
            return true;
        } finally {
            lock.unlock();
        }
    }

    /** Frees it, after {@link #beginClose} and all that uses it. */
    public void closeDevice(String operation) throws RdmaException {
        verbs().get(VerbsSymbol.CLOSE_DEVICE).call(pointer).check(operation,
                "the library could not close it");
    }
}
