// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.ibverbs.cm;

import io.rdma4j.connection.PortSpace;
import io.rdma4j.ibverbs.abi.CmLayout.AddressInfo;
import io.rdma4j.ibverbs.abi.CmLayout.CmEvent;
import io.rdma4j.ibverbs.abi.CmLayout.EventChannel;
import io.rdma4j.ibverbs.abi.CmSymbol;
import io.rdma4j.ibverbs.abi.ErrorNumbers;
import io.rdma4j.ibverbs.abi.Layout;
import io.rdma4j.ibverbs.abi.Library;
import io.rdma4j.ibverbs.abi.Native;
import io.rdma4j.ibverbs.abi.Outcome;
import io.rdma4j.ibverbs.abi.SystemLayout.SocketAddress;
import io.rdma4j.ibverbs.abi.SystemSymbol;
import io.rdma4j.ibverbs.event.EventLoop;
import io.rdma4j.verbs.QueuePairType;
import io.rdma4j.verbs.RdmaException;
import org.jspecify.annotations.Nullable;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;

/**
 * The event channel of the connection manager: one for all devices of the process, as a listener at the wildcard address
 * serves all of them. C: {@code rdma_create_event_channel}.
 *
 * <p>The thread of an {@link EventLoop} reads each event, acknowledges it at once and then notifies the handler; so no
 * {@code rdma_destroy_id} of any thread waits for an acknowledgement that does not come. Thread safe.
 */
public final class CmChannel implements AutoCloseable {
    private static final System.Logger LOG = System.getLogger(CmChannel.class.getName());
    private static final int F_GETFL = 3;
    private static final int F_SETFL = 4;
    private static final int O_NONBLOCK = 0x800;
    private static final int EFD_NONBLOCK_CLOEXEC = 0x800 | 0x80000;
    private static final String OPEN = "open connection manager";
    /** {@code RAI_PASSIVE}: the id is only bound. */
    private static final int PASSIVE = 1;
    /** Events read before other descriptors of the loop have their turn. */
    private static final int BATCH = 64;

    private final Library<CmSymbol> library;
    private final Library<SystemSymbol> system;
    private final EventLoop loop;
    private final long channel;
    private final int descriptor;
    private final int wakeUp;
    /** The ids by their address. An id is removed before its memory is freed, because another one may get the address. */
    private final Map<Long, NativeId> ids = new ConcurrentHashMap<>();
    private final Queue<Runnable> tasks = new ConcurrentLinkedQueue<>();
    private boolean isClosed;

    /**
     * Opens it.
     *
     * @param system the C library, for the channel's descriptor
     * @param loop the thread that reads events, and that all handlers of connections are called by
     * @throws RdmaException ENODEV if the machine has no RDMA device, ENOENT if the kernel has no connection manager for
     *         programs, ENOMEM if the system gives no descriptor
     */
    public CmChannel(Library<CmSymbol> library, Library<SystemSymbol> system, EventLoop loop)
            throws RdmaException {
        this.library = library;
        this.system = system;
        this.loop = loop;
        channel = library.get(CmSymbol.CREATE_EVENT_CHANNEL).call().pointer(OPEN,
                "it needs /dev/infiniband/rdma_cm, which the module rdma_ucm brings, and a device");
        descriptor = Native.getInt(Native.at(channel, EventChannel.SIZE), EventChannel.FD);
        try {
            setNonBlocking();
            wakeUp = eventDescriptor();
        } catch (RdmaException e) {
            library.get(CmSymbol.DESTROY_EVENT_CHANNEL).call(channel);
            throw e;
        }
        loop.add(descriptor, this::readEvents);
        loop.add(wakeUp, this::runTasks);
    }

    /** After an event of a destroyed id the library reads the next one, for which it must not block. */
    private void setNonBlocking() throws RdmaException {
        Outcome flags = system.get(SystemSymbol.FCNTL).call(descriptor, F_GETFL, 0);
        if (flags.value() < 0) {
            throw ErrorNumbers.failure(OPEN, flags.errno(), "the channel's descriptor is unusable");
        }
        system.get(SystemSymbol.FCNTL).call(descriptor, F_SETFL, flags.value() | O_NONBLOCK)
                .check(OPEN, "the channel's descriptor cannot be made non-blocking");
    }

    private int eventDescriptor() throws RdmaException {
        Outcome made = system.get(SystemSymbol.EVENTFD).call(0, EFD_NONBLOCK_CLOEXEC);
        if (made.value() < 0) {
            throw ErrorNumbers.failure(OPEN, made.errno(),
                    "the system gives no file descriptor to be woken by; raise ulimit -n");
        }
        return (int) made.value();
    }

    Library<CmSymbol> library() {
        return library;
    }

    // ---------------------------------------------------------------- ids

    /**
     * {@return a new id} C: {@code rdma_create_id}.
     *
     * @throws RdmaException ENOMEM if the kernel has no room, ENODEV if there is no device
     */
    NativeId create(PortSpace space, String operation) throws RdmaException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment pointer = arena.allocate(Long.BYTES, Long.BYTES);
            library.get(CmSymbol.CREATE_ID).call(channel, pointer.address(), 0, space.code())
                    .check(operation, "the connection manager gives no id for " + space);
            return known(pointer, space, operation);
        }
    }

    /**
     * {@return a new id at an address, for queue pairs of a type that {@link #create} does not make ids for} C: {@code
     * rdma_create_ep}, the only function with the type as a parameter, and {@code rdma_migrate_id}, because the new id is
     * synchronous.
     *
     * @throws RdmaException EADDRINUSE if the port is taken, ENODEV or EADDRNOTAVAIL if no device has the address, EINVAL if
     *         the kernel does not connect the type in the port space
     */
    NativeId create(PortSpace space, QueuePairType type, InetSocketAddress local,
            String operation) throws RdmaException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment pointer = arena.allocate(Long.BYTES, Long.BYTES);
            library.get(CmSymbol.CREATE_EP)
                    .call(pointer.address(), passive(arena, space, type, local).address(), 0, 0)
                    .check(operation, "the connection manager gives no id for " + type + " in "
                            + space + " at " + local);
            NativeId id = known(pointer, space, operation);
            try {
                library.get(CmSymbol.MIGRATE_ID).call(id.address(), channel).check(operation,
                        "the kernel does not move the id");
            } catch (RdmaException e) {
                id.destroy();
                throw e;
            }
            return id;
        }
    }

    private static MemorySegment passive(Arena arena, PortSpace space, QueuePairType type,
            InetSocketAddress local) {
        MemorySegment out = arena.allocate(AddressInfo.SIZE + Layout.SLACK, Long.BYTES);
        MemorySegment address = SocketAddresses.allocate(arena, local,
                SocketAddresses.scope(local.getAddress()));
        Native.putInt(out, AddressInfo.FLAGS, PASSIVE);
        Native.putInt(out, AddressInfo.FAMILY,
                Native.getShort(address, SocketAddress.FAMILY));
        Native.putInt(out, AddressInfo.QP_TYPE, type.code());
        Native.putInt(out, AddressInfo.PORT_SPACE, space.code());
        Native.putInt(out, AddressInfo.SRC_LEN, SocketAddresses.length(address));
        Native.putLong(out, AddressInfo.SRC_ADDR, address.address());
        return out;
    }

    /** {@return the id that the library has written the address of} */
    private NativeId known(MemorySegment pointer, PortSpace space, String operation)
            throws RdmaException {
        long address = Native.getLong(pointer, 0);
        if (address == 0) {
            throw NativeId.nonsense(operation, "an id at a null pointer");
        }
        return know(new NativeId(this, address, space));
    }

    private NativeId know(NativeId id) {
        ids.put(id.address(), id);
        return id;
    }

    /** Removes an id; its later events have no handler. */
    void forget(NativeId id) {
        ids.remove(id.address(), id);
    }

    // ---------------------------------------------------------------- events

    private void readEvents() {
        for (int i = 0; i < BATCH && readEvent(); i++) {
            // The next one.
        }
    }

    /** Reads an event. {@return whether there was one} */
    private boolean readEvent() {
        Runnable delivery;
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment pointer = arena.allocate(Long.BYTES, Long.BYTES);
            // It fails with EAGAIN if there is none, also after events of destroyed ids.
            if (library.get(CmSymbol.GET_CM_EVENT).call(channel, pointer.address()).value() != 0) {
                return false;
            }
            long event = Native.getLong(pointer, 0);
            if (event == 0) {
                return false;
            }
            try {
                delivery = delivery(Native.at(event, CmEvent.SIZE));
            } finally {
                library.get(CmSymbol.ACK_CM_EVENT).call(event);
            }
        }
        run(delivery);
        return true;
    }

    /** {@return the task for an event, to be run after the acknowledgement} */
    private Runnable delivery(MemorySegment event) {
        IdEvent copy = IdEvent.copyOf(event);
        if (copy.type() == EventType.CONNECT_REQUEST) {
            NativeId listening = ids.get(Native.getLong(event, CmEvent.LISTEN_ID));
            return request(listening, Native.getLong(event, CmEvent.ID), copy);
        }
        NativeId id = ids.get(Native.getLong(event, CmEvent.ID));
        return id == null ? () -> {} : () -> id.handle(copy, null);
    }

    private Runnable request(@Nullable NativeId listening, long address, IdEvent event) {
        NativeId request = know(new NativeId(this, address,
                listening == null ? PortSpace.TCP : listening.space()));
        return listening == null ? request::destroy : () -> listening.handle(event, request);
    }

    /** Runs a task in the thread that reads events, unless that has ended. */
    synchronized void execute(Runnable task) {
        if (isClosed) {
            return;
        }
        tasks.add(task);
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment one = arena.allocate(Long.BYTES, Long.BYTES);
            Native.putLong(one, 0, 1);
            system.get(SystemSymbol.WRITE).call(wakeUp, one.address(), Long.BYTES);
        }
    }

    private void runTasks() {
        try (Arena arena = Arena.ofConfined()) {
            system.get(SystemSymbol.READ).call(wakeUp,
                    arena.allocate(Long.BYTES, Long.BYTES).address(), Long.BYTES);
        }
        for (Runnable task = tasks.poll(); task != null; task = tasks.poll()) {
            run(task);
        }
    }

    /** Runs a task; whatever it throws, the thread continues for all others. */
    private static void run(Runnable task) {
        try {
            task.run();
        } catch (RuntimeException | Error e) {
            LOG.log(System.Logger.Level.ERROR, "a handler of a connection has failed", e);
        }
    }

    // ---------------------------------------------------------------- the end

    /**
     * Destroys all ids that are left, and the channel; the devices are closed before. Idempotent.
     */
    @Override
    public void close() {
        synchronized (this) {
            if (isClosed) {
                return;
            }
            isClosed = true;
        }
        List.copyOf(ids.values()).forEach(NativeId::destroy);
        loop.remove(descriptor);
        loop.remove(wakeUp);
        library.get(CmSymbol.DESTROY_EVENT_CHANNEL).call(channel);
        system.get(SystemSymbol.CLOSE).call(wakeUp);
    }
}
