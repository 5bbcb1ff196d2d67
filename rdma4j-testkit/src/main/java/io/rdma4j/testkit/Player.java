// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.testkit;

import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.AddressHandle;
import io.rdma4j.verbs.AddressHandleAttributes;
import io.rdma4j.verbs.CompletionChannel;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.DeviceMemory;
import io.rdma4j.verbs.ExtendedCompletionQueue;
import io.rdma4j.verbs.FlushPlacement;
import io.rdma4j.verbs.FlushSelectivity;
import io.rdma4j.verbs.GidEntry;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.MemoryRegionInitAttributes;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairCapabilities;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.QueuePairType;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.ReceiveWorkRequest;
import io.rdma4j.verbs.SendBatch;
import io.rdma4j.verbs.SendFlag;
import io.rdma4j.verbs.SendOpcode;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.SharedReceiveQueue;
import io.rdma4j.verbs.SharedReceiveQueueInitAttributes;
import io.rdma4j.verbs.WorkCompletion;
import org.jspecify.annotations.Nullable;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.Iterator;
import java.util.List;
import java.util.Set;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

/**
 * One end: an open device with domain, completion queues, memory and a queue pair, and the operations of
 * tests on them.
 *
 * <p>The memory has three areas: messages are sent from the first, results of atomics arrive in the
 * second, messages and accesses of the peer in the third.
 */
final class Player {
    static final int DEPTH = 32;
    static final int MEMORY = 32768;
    static final int SEND_AT = 0;
    static final int RESULT_AT = 14336;
    static final int RECEIVE_AT = 16384;
    static final int QKEY = 0x1111_1111;
    static final int PORT = 1;
    static final int IMMEDIATE = 0xcafe_f00d;

    final PlayerSettings settings;
    final DeviceContext context;
    final ProtectionDomain domain;
    final @Nullable CompletionChannel channel;
    final CompletionQueue queue;
    final @Nullable SharedReceiveQueue sharedReceives;
    final MemorySegment memory;
    final @Nullable DeviceMemory deviceMemory;
    final MemoryRegion region;
    /** Another one after {@link Connector#reconnect}, if the connection manager has made it. */
    QueuePair queuePair;
    final GidEntry gid;
    final int firstPsn;

    final Cleanup cleanup;
    private final Pace pace;
    private final List<WorkCompletion> completions = new ArrayList<>();
    private @Nullable Player connected;
    private @Nullable AddressHandle handle;
    private long nextId;

    /** {@return the value of a counter of the queue pair, which the device must count} */
    long counted(String counter) {
        Long value = queuePair.counters().get(counter);
        if (value == null) {
            throw new AssertionError("the queue pair does not count " + counter);
        }
        return value;
    }

    /** Makes the queue pair of a player that has everything else. */
    @FunctionalInterface
    interface QueuePairMaker {
        QueuePair make(Player player, QueuePairInitAttributes attributes) throws RdmaException;
    }

    Player(Cleanup cleanup, Pace pace, DeviceContext context, int firstPsn,
            PlayerSettings settings, QueuePairMaker queuePairs) throws RdmaException {
        this.cleanup = cleanup;
        this.pace = pace;
        this.context = context;
        this.firstPsn = firstPsn;
        this.settings = settings;
        gid = gid(context);
        domain = cleanup.keep(settings.domain.make(context));
        if (settings.usesEvents) {
            channel = cleanup.keep(CompletionChannel.create());
            queue = cleanup.keep(context.createCompletionQueue(4 * DEPTH, channel));
            queue.requestNotification();
        } else {
            channel = null;
            queue = cleanup.keep(settings.queue.make(context, domain));
        }
        sharedReceives = settings.usesSharedReceiveQueue
                ? cleanup.keep(domain.createSharedReceiveQueue(
                        new SharedReceiveQueueInitAttributes().maxRequests(DEPTH)))
                : null;
        if (settings.usesDeviceMemory) {
            deviceMemory = cleanup.keep(context.allocateDeviceMemory(MEMORY, 8));
            memory = MemorySegment.NULL;
            region = cleanup.keep(domain.register(new MemoryRegionInitAttributes()
                    .deviceMemory(deviceMemory, 0, MEMORY).access(zeroBased())));
        } else {
            deviceMemory = null;
            memory = memory();
            region = cleanup
                    .keep(settings.region.make(domain, memory, settings.regionAccess));
        }
        queuePair = queuePairs.make(this, queuePairAttributes());
    }

    private MemorySegment memory() throws RdmaException {
        if (settings.memory != null) {
            return settings.memory.make();
        }
        // The region that is tested is another one of the same memory, which may end or change without it.
        return settings.isMemoryOfDevice
                ? cleanup.keep(domain.allocateRegion(MEMORY, AccessFlag.LOCAL_WRITE)).segment()
                : Arena.ofAuto().allocate(MEMORY, 64);
    }

    /** {@return a GID of the port, an IPv4 one if there is one} */
    static GidEntry gid(DeviceContext context) throws RdmaException {
        List<GidEntry> table = context.queryGidTable().stream()
                .filter(each -> each.port() == PORT).toList();
        assertThat(table).as("GIDs of port 1").isNotEmpty();
        return table.stream().filter(each -> each.gid().isIpv4()).findFirst()
                .orElse(table.getFirst());
    }

    private Set<AccessFlag> zeroBased() {
        EnumSet<AccessFlag> access = EnumSet.copyOf(settings.regionAccess);
        access.add(AccessFlag.ZERO_BASED);
        return access;
    }

    /** {@return the attributes for queue pairs of this player} */
    QueuePairInitAttributes queuePairAttributes() {
        QueuePairInitAttributes attributes = new QueuePairInitAttributes().type(settings.type)
                .completionQueue(queue).sharedReceiveQueue(sharedReceives)
                .signalAll(settings.signalAll)
                .capabilities(QueuePairCapabilities.ofDepth(DEPTH, DEPTH).withElements(2, 2)
                        .withInlineData(settings.inlineData));
        SendOpcode[] operations = settings.sendOperations;
        if (operations != null) {
            attributes.sendOperations(operations);
        }
        return attributes;
    }

    /** {@return another queue pair of the same kind, in its first state} */
    QueuePair newQueuePair() throws RdmaException {
        return cleanup.keep(domain.createQueuePair(queuePairAttributes()));
    }

    // ---------------------------------------------------------------- connecting

    /** Sets the player at the other end. */
    void meet(Player peer) throws RdmaException {
        connected = peer;
        if (settings.type == QueuePairType.UD && handle == null) {
            handle = cleanup.keep(domain.createAddressHandle(pathTo(peer)));
        }
    }

    /** {@return the path to a peer's GID} */
    AddressHandleAttributes pathTo(Player peer) {
        return AddressHandleAttributes.to(peer.gid.gid(), gid.index());
    }

    /** Takes and drops all completions. */
    void forget() throws RdmaException {
        poll();
        completions.clear();
    }

    // ---------------------------------------------------------------- memory

    void store(long offset, byte[] bytes) throws RdmaException {
        MemorySegment source = MemorySegment.ofArray(bytes);
        if (deviceMemory != null) {
            deviceMemory.copyFrom(offset, source);
        } else {
            MemorySegment.copy(source, 0, memory, offset, bytes.length);
        }
    }

    byte[] load(long offset, int length) throws RdmaException {
        byte[] bytes = new byte[length];
        MemorySegment target = MemorySegment.ofArray(bytes);
        if (deviceMemory != null) {
            deviceMemory.copyTo(offset, target);
        } else {
            MemorySegment.copy(memory, offset, target, 0, length);
        }
        return bytes;
    }

    void storeLong(long offset, long value) throws RdmaException {
        byte[] bytes = new byte[8];
        MemorySegment.ofArray(bytes).set(ValueLayout.JAVA_LONG_UNALIGNED, 0, value);
        store(offset, bytes);
    }

    long loadLong(long offset) throws RdmaException {
        return MemorySegment.ofArray(load(offset, 8)).get(ValueLayout.JAVA_LONG_UNALIGNED, 0);
    }

    // ---------------------------------------------------------------- posting

    Player peer() {
        Player peer = connected;
        if (peer == null) {
            throw new IllegalStateException("the player is not connected");
        }
        return peer;
    }

    /** {@return bytes before the payload of a received message} */
    int headerLength() {
        return settings.type == QueuePairType.UD ? AddressHandle.GLOBAL_ROUTE_LENGTH : 0;
    }

    /** {@return work on the usual places with the usual keys} */
    Work work(SendOpcode opcode, long length) {
        MemoryRegion target = peer().region;
        int from = switch (opcode) {
            case RDMA_READ -> RECEIVE_AT;
            case ATOMIC_COMPARE_AND_SWAP, ATOMIC_FETCH_AND_ADD -> RESULT_AT;
            default -> SEND_AT;
        };
        int at = opcode == SendOpcode.RDMA_READ ? SEND_AT : RECEIVE_AT;
        return new Work(opcode, target.address() + at, target.rkey(), region.address() + from,
                region.lkey(), length, 0, 0, 0, FlushPlacement.GLOBAL, FlushSelectivity.RANGE);
    }

    /** Posts signaled work. {@return the request's number} */
    long post(Work work) throws RdmaException {
        long id = ++nextId;
        if (settings.sendOperations == null) {
            queuePair.postSend(request(id, work));
        } else {
            postPieces(id, work);
        }
        return id;
    }

    private SendWorkRequest request(long id, Work work) {
        SendWorkRequest request = new SendWorkRequest().id(id).set(SendFlag.SIGNALED);
        if (settings.sendsInline) {
            request.set(SendFlag.INLINE);
        }
        switch (work.opcode()) {
            case SEND -> request.send();
            case SEND_WITH_IMMEDIATE -> request.sendWithImmediate(IMMEDIATE);
            case SEND_WITH_INVALIDATE -> request.sendWithInvalidate(work.invalidated());
            case RDMA_WRITE -> request.write(work.remoteAddress(), work.rkey());
            case RDMA_WRITE_WITH_IMMEDIATE -> request.writeWithImmediate(work.remoteAddress(),
                    work.rkey(), IMMEDIATE);
            case RDMA_READ -> request.read(work.remoteAddress(), work.rkey());
            case ATOMIC_COMPARE_AND_SWAP -> request.compareAndSwap(work.remoteAddress(),
                    work.rkey(), work.compareAdd(), work.swap());
            case ATOMIC_FETCH_AND_ADD -> request.fetchAndAdd(work.remoteAddress(), work.rkey(),
                    work.compareAdd());
            case ATOMIC_WRITE -> request.atomicWrite(work.remoteAddress(), work.rkey());
            case FLUSH -> request.flush(work.remoteAddress(), work.rkey(), work.length(),
                    Set.of(work.placement()), work.selectivity());
            case LOCAL_INVALIDATE -> request.localInvalidate(work.invalidated());
            case BIND_MEMORY_WINDOW -> throw new IllegalArgumentException(
                    work.opcode() + " is not work on the usual places");
        }
        if (hasPayload(work)) {
            request.add(work.localAddress(), work.length(), work.lkey());
        }
        if (settings.type == QueuePairType.UD) {
            request.to(handle(), peer().queuePair.number(), QKEY);
        }
        return request;
    }

    private static boolean hasPayload(Work work) {
        return work.length() > 0 && work.opcode() != SendOpcode.FLUSH
                && work.opcode() != SendOpcode.LOCAL_INVALIDATE;
    }

    AddressHandle handle() {
        AddressHandle known = handle;
        if (known == null) {
            throw new IllegalStateException("only a connected datagram player has one");
        }
        return known;
    }

    private void postPieces(long id, Work work) throws RdmaException {
        try (SendBatch batch = queuePair.startBatch()) {
            build(batch, id, work);
            batch.post();
        }
    }

    private void build(SendBatch batch, long id, Work work) throws RdmaException {
        batch.id(id).flags(SendFlag.SIGNALED);
        switch (work.opcode()) {
            case SEND -> batch.send();
            case SEND_WITH_IMMEDIATE -> batch.sendWithImmediate(IMMEDIATE);
            case SEND_WITH_INVALIDATE -> batch.sendWithInvalidate(work.invalidated());
            case RDMA_WRITE -> batch.write(work.remoteAddress(), work.rkey());
            case RDMA_WRITE_WITH_IMMEDIATE ->
                batch.writeWithImmediate(work.remoteAddress(), work.rkey(), IMMEDIATE);
            case RDMA_READ -> batch.read(work.remoteAddress(), work.rkey());
            case ATOMIC_COMPARE_AND_SWAP -> batch.compareAndSwap(work.remoteAddress(),
                    work.rkey(), work.compareAdd(), work.swap());
            case ATOMIC_FETCH_AND_ADD -> batch.fetchAndAdd(work.remoteAddress(), work.rkey(),
                    work.compareAdd());
            case ATOMIC_WRITE -> batch.atomicWrite(work.remoteAddress(), work.rkey(),
                    MemorySegment.ofArray(load(SEND_AT, 8)));
            case FLUSH -> batch.flush(work.remoteAddress(), work.rkey(), work.length(),
                    Set.of(work.placement()), work.selectivity());
            case LOCAL_INVALIDATE -> batch.localInvalidate(work.invalidated());
            case BIND_MEMORY_WINDOW -> throw new IllegalArgumentException(
                    work.opcode() + " is not work on the usual places");
        }
        if (hasPayload(work) && work.opcode() != SendOpcode.ATOMIC_WRITE) {
            batch.add(work.localAddress(), work.length(), work.lkey());
        }
        if (settings.type == QueuePairType.UD) {
            batch.to(handle(), peer().queuePair.number(), QKEY);
        }
    }

    /** Posts a receive into the usual place. {@return the request's number} */
    long receive(long length) throws RdmaException {
        long id = ++nextId;
        ReceiveWorkRequest request = new ReceiveWorkRequest().id(id);
        long total = length + headerLength();
        if (total > 0) {
            request.add(region, RECEIVE_AT, total);
        }
        if (sharedReceives != null) {
            sharedReceives.post(request);
        } else {
            queuePair.postReceive(request);
        }
        return id;
    }

    /** {@return a number for a request that the test posts itself} */
    long newId() {
        return ++nextId;
    }

    // ---------------------------------------------------------------- completions

    /** Waits for the completion of a request, and keeps others for later calls. */
    WorkCompletion await(long id) throws RdmaException {
        long endNs = System.nanoTime() + UnderTest.LIMIT.toNanos();
        while (true) {
            WorkCompletion found = taken(id);
            if (found != null) {
                return found;
            }
            if (System.nanoTime() - endNs > 0) {
                return fail("no completion of request %d within %s; queue pair 0x%06x is in state"
                        + " %s and the peer's in %s; seen: %s", id, UnderTest.LIMIT,
                        queuePair.number(), queuePair.state(), peer().queuePair.state(),
                        completions);
            }
            if (channel == null) {
                poll();
            } else {
                pollAfterEvent(channel);
            }
            pace.step();
        }
    }

    /** As {@link #await}; the request must have succeeded. */
    WorkCompletion awaitSuccess(long id) throws RdmaException {
        WorkCompletion completion = await(id);
        assertThat(completion.isSuccess()).as(completion.toString()).isTrue();
        assertThat(completion.queuePairNumber()).isEqualTo(queuePair.number());
        assertThat(queue.queuePair(completion)).isSameAs(queuePair);
        return completion;
    }

    private @Nullable WorkCompletion taken(long id) {
        for (Iterator<WorkCompletion> all = completions.iterator(); all.hasNext();) {
            WorkCompletion each = all.next();
            if (each.id() == id) {
                all.remove();
                return each;
            }
        }
        return null;
    }

    private void pollAfterEvent(CompletionChannel events) throws RdmaException {
        CompletionQueue announced = events.pollEvent(UnderTest.LIMIT);
        assertThat(announced).as("the queue of an event in the channel").isSameAs(queue);
        queue.acknowledgeEvents(1);
        queue.requestNotification();
        poll();
    }

    /** Takes all completions. */
    void poll() throws RdmaException {
        if (queue instanceof ExtendedCompletionQueue inPlace) {
            pollInPlace(inPlace);
            return;
        }
        WorkCompletion completion = new WorkCompletion();
        while (queue.poll(completion)) {
            completions.add(completion);
            completion = new WorkCompletion();
        }
    }

    private void pollInPlace(ExtendedCompletionQueue inPlace) throws RdmaException {
        if (!inPlace.startPoll()) {
            return;
        }
        do {
            WorkCompletion current = inPlace.current();
            WorkCompletion copy = new WorkCompletion();
            copy.assign(current);
            completions.add(copy);
        } while (inPlace.nextPoll());
        inPlace.endPoll();
    }
}
