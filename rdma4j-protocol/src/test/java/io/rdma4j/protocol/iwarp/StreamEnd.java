// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.protocol.iwarp;

import io.rdma4j.protocol.count.Counter;
import io.rdma4j.protocol.iwarp.wire.Crc32c;
import io.rdma4j.protocol.iwarp.wire.FpduView;
import io.rdma4j.protocol.iwarp.wire.OutgoingFpdu;
import io.rdma4j.protocol.work.PostedReceives;
import io.rdma4j.protocol.work.PostedSends;
import io.rdma4j.protocol.work.ReceiveDetails;
import io.rdma4j.protocol.work.ReceiveRequest;
import io.rdma4j.protocol.work.Regions;
import io.rdma4j.protocol.work.SendRequest;
import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.AsyncEventType;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.QueuePairState;
import io.rdma4j.verbs.ReceiveWorkRequest;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.WorkCompletionOpcode;
import io.rdma4j.verbs.WorkCompletionStatus;
import org.jspecify.annotations.Nullable;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * One end of a stream: a queue pair over queues and memory that are no more than lists, and the host that it reports to.
 * The lower half of the memory is what it sends, the upper half is where messages arrive.
 */
final class StreamEnd implements IwarpHost {
    static final int MEMORY = 1 << 18;
    static final int UPPER = MEMORY / 2;
    private static final int BUFFER = 2 * FpduView.MAX_LENGTH;
    private static final Set<AccessFlag> RIGHTS = Set.of(AccessFlag.REMOTE_WRITE,
            AccessFlag.REMOTE_READ);

    /** One work completion. {@code invalidated} is null if no key was. */
    record Completion(long id, WorkCompletionStatus status, WorkCompletionOpcode opcode,
            long byteLength, @Nullable Integer invalidated, boolean isSolicited) {}

    final IwarpQueuePair queuePair;
    final PostedReceives receives;
    final PostedSends sends = new PostedSends();
    final Regions regions = new Regions();
    final MemorySegment memory = Arena.ofAuto().allocate(MEMORY, 64);
    final long address;
    final int key;
    final List<Completion> completions = new ArrayList<>();
    final List<AsyncEventType> events = new ArrayList<>();
    final List<String> terminations = new ArrayList<>();
    final Map<Counter, Long> counted = new EnumMap<>(Counter.class);
    final List<QueuePairState> states = new ArrayList<>();
    ByteStream out;
    ByteStream in;
    boolean hasReceived;
    boolean isAcknowledged = true;
    /** Whether its program says what the peer of the next stream may do. */
    boolean givesRights = true;
    long nowNs;

    private final byte[] staged = new byte[FpduView.MAX_LENGTH];
    private int stagedFirst;
    private int stagedEnd;
    private boolean hasClosed;
    private boolean hasReported;
    private final MemorySegment buffer = Arena.ofAuto().allocate(BUFFER);
    private int buffered;
    private final byte[] chunk = new byte[BUFFER];
    private final OutgoingFpdu unit = new OutgoingFpdu();
    private @Nullable Crc32c crc;

    StreamEnd(int distinct, ByteStream in, ByteStream out, boolean hasSharedReceives) {
        this.in = in;
        this.out = out;
        receives = new PostedReceives(hasSharedReceives);
        address = distinct * 0x1000_0000L;
        key = distinct << 8 | 0x5a;
        queuePair = new IwarpQueuePair(sends, receives, regions, this);
        byte[] bytes = new byte[UPPER];
        new Random(distinct).nextBytes(bytes);
        MemorySegment.copy(MemorySegment.ofArray(bytes), 0, memory, 0, bytes.length);
        regions.register(key, address, memory, EnumSet.allOf(AccessFlag.class));
        prepare(new QueuePairAttributes().accessFlags(RIGHTS));
    }

    private void prepare(QueuePairAttributes attributes) {
        modify(attributes.state(QueuePairState.INIT));
    }

    void modify(QueuePairAttributes attributes) {
        queuePair.modify(attributes, attributes.state(), nowNs);
    }

    /** Brings it from any state to where it can have another stream. */
    void begin(ByteStream newIn, ByteStream newOut) {
        modify(new QueuePairAttributes().state(QueuePairState.RESET));
        prepare(givesRights
                ? new QueuePairAttributes().accessFlags(RIGHTS)
                : new QueuePairAttributes());
        in = newIn;
        out = newOut;
        stagedFirst = stagedEnd;
        buffered = 0;
        hasClosed = false;
        hasReported = false;
        hasReceived = false;
    }

    /** The connection stands. */
    void connect(StreamParameters parameters, int longestUnit, long holdNs) {
        crc = parameters.hasCrc() ? new Crc32c() : null;
        queuePair.connect(parameters, longestUnit, holdNs, nowNs);
    }

    @Override
    public boolean isAcknowledged() {
        return isAcknowledged;
    }

    // ---------------------------------------------------------------- posting

    static SendWorkRequest request(long id) {
        return new SendWorkRequest().id(id);
    }

    void post(SendWorkRequest request) {
        sends.post(request);
        queuePair.onSendPosted(nowNs);
    }

    void post(ReceiveWorkRequest request) {
        receives.post(request);
        if (queuePair.wantsReceiveDoorbell()) {
            queuePair.onReceivePosted(nowNs);
        }
    }

    /** Posts a receive into the upper half of the memory. */
    void receive(long id, int length) {
        post(new ReceiveWorkRequest().id(id).add(address + UPPER, length, key));
    }

    /** Posts a SEND from the start of the memory. */
    void send(long id, int length) {
        post(request(id).send().add(address, length, key));
    }

    /** Posts a WRITE from the start of the memory to the upper half of the peer's. */
    void write(long id, int length, StreamEnd peer) {
        post(request(id).write(peer.address + UPPER, peer.key).add(address, length, key));
    }

    /** Posts a READ of the start of the peer's memory into the upper half. */
    void read(long id, int length, StreamEnd peer) {
        post(request(id).read(peer.address, peer.key).add(address + UPPER, length, key));
    }

    /** {@return whether the upper half of this memory begins with the start of the peer's} */
    boolean hasBytesOf(StreamEnd peer, int length) {
        return MemorySegment.mismatch(memory, UPPER, UPPER + length, peer.memory, 0, length) == -1;
    }

    byte[] bytes() {
        return memory.toArray(ValueLayout.JAVA_BYTE);
    }

    // ---------------------------------------------------------------- the host

    /** Does what can be done at once. {@return whether anything was} */
    boolean work(long now) {
        nowNs = now;
        boolean hasWorked = false;
        if (queuePair.deadlineNs() <= now) {
            queuePair.onDeadline(now);
            hasWorked = true;
        }
        hasWorked |= receive();
        hasWorked |= transmit();
        if (queuePair.isOver() && stagedFirst == stagedEnd && !hasClosed) {
            hasClosed = true;
            out.close();
            hasWorked = true;
        }
        return hasWorked;
    }

    /** Takes what has arrived, and sends nothing. */
    void takeAll() {
        while (receive()) {
            // Until nothing is there.
        }
    }

    private boolean receive() {
        int given = in.read(chunk, 0, BUFFER - buffered);
        if (given > 0) {
            MemorySegment.copy(chunk, 0, buffer, ValueLayout.JAVA_BYTE, buffered, given);
            buffered += given;
            long used = queuePair.onBytes(buffer, 0, buffered, nowNs);
            buffered -= (int) used;
            MemorySegment.copy(buffer, used, buffer, 0, buffered);
            return true;
        }
        if (in.isAtEnd() && !hasReported) {
            hasReported = true;
            queuePair.onStreamEnd();
            return true;
        }
        return false;
    }

    private boolean transmit() {
        boolean hasWorked = false;
        while (true) {
            if (stagedFirst == stagedEnd && !stage()) {
                return hasWorked;
            }
            int taken = out.write(staged, stagedFirst, stagedEnd - stagedFirst);
            if (taken == 0) {
                return hasWorked;
            }
            stagedFirst += taken;
            hasWorked = true;
        }
    }

    private boolean stage() {
        OutgoingFpdu next = queuePair.pollTransmit(unit, nowNs);
        if (next == null) {
            return false;
        }
        int length = next.copyTo(MemorySegment.ofArray(staged), 0, crc);
        next.release();
        if (length == OutgoingFpdu.PAYLOAD_GONE) {
            queuePair.onPayloadGone();
            return stage();
        }
        stagedFirst = 0;
        stagedEnd = length;
        return true;
    }

    // ---------------------------------------------------------------- what it reports

    /** Asserts ids and outcomes of all completions since the last call, in order. */
    void assertCompleted(String... idsAndOutcomes) {
        assertThat(completions.stream().map(c -> c.id() + " " + c.status()).toList())
                .containsExactly(idsAndOutcomes);
        completions.clear();
    }

    @Override
    public void sendCompleted(SendRequest request, WorkCompletionStatus status, long byteLength) {
        if (request != sends.oldest()) {
            throw new AssertionError("request " + request.id() + " is not the oldest");
        }
        completions.add(new Completion(request.id(), status, request.opcode().completionOpcode(),
                byteLength, null, false));
        sends.retire();
    }

    @Override
    public void receiveCompleted(ReceiveRequest request, WorkCompletionStatus status,
            WorkCompletionOpcode opcode, long byteLength, ReceiveDetails details) {
        receives.release(request);
        completions.add(new Completion(request.id(), status, opcode, byteLength,
                details.hasInvalidate() ? details.immediateOrRkey() : null,
                details.isSolicited()));
    }

    @Override
    public boolean flush(MemorySegment flushed, long offset, long length, long ticket) {
        throw new AssertionError("iWARP has no FLUSH");
    }

    @Override
    public void stateChanged(QueuePairState state) {
        assertThat(queuePair.state()).isEqualTo(state);
        states.add(state);
    }

    @Override
    public void asyncEvent(AsyncEventType type) {
        events.add(type);
    }

    @Override
    public void peerIsReady() {
        assertThat(hasReceived).isFalse();
        hasReceived = true;
    }

    @Override
    public void terminated(boolean isOwn, String reason) {
        terminations.add((isOwn ? "says: " : "hears: ") + reason);
    }

    @Override
    public void count(Counter counter) {
        count(counter, 1);
    }

    @Override
    public void count(Counter counter, long times) {
        counted.merge(counter, times, Long::sum);
    }
}
