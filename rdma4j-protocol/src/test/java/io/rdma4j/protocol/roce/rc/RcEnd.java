// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.protocol.roce.rc;

import io.rdma4j.protocol.count.Counter;
import io.rdma4j.protocol.roce.RetransmissionCause;
import io.rdma4j.protocol.roce.RoceHost;
import io.rdma4j.protocol.roce.RoundTripEstimate;
import io.rdma4j.protocol.roce.wire.Opcode;
import io.rdma4j.protocol.roce.wire.OutgoingPacket;
import io.rdma4j.protocol.roce.wire.PacketView;
import io.rdma4j.protocol.roce.wire.Path;
import io.rdma4j.protocol.roce.wire.Psn;
import io.rdma4j.protocol.work.PostedReceives;
import io.rdma4j.protocol.work.PostedSends;
import io.rdma4j.protocol.work.ReceiveDetails;
import io.rdma4j.protocol.work.ReceiveRequest;
import io.rdma4j.protocol.work.Regions;
import io.rdma4j.protocol.work.SendRequest;
import io.rdma4j.spi.InfinibandTransitions;
import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.AddressHandleAttributes;
import io.rdma4j.verbs.AsyncEventType;
import io.rdma4j.verbs.Gid;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.QueuePairState;
import io.rdma4j.verbs.QueuePairType;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.ReceiveWorkRequest;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.WorkCompletionOpcode;
import io.rdma4j.verbs.WorkCompletionStatus;
import org.jspecify.annotations.Nullable;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * One end of a reliable connection: a queue pair over queues and memory that are no more than lists, and the host that it
 * reports to. The lower half of the memory is what it sends, the upper half is where messages arrive.
 */
final class RcEnd implements RoceHost {
    static final int MEMORY = 1 << 16;
    static final int UPPER = MEMORY / 2;
    /** Middle packets that leave as one, to be cut by the wire; packets taken from it before answers leave. */
    private static final int PACKETS_AT_ONCE = 15;
    private static final int RECEIVED_AT_ONCE = 64;

    /** One work completion. {@code immediate} and {@code invalidated} are null if there was none. */
    record Completion(long id, WorkCompletionStatus status, WorkCompletionOpcode opcode,
            long byteLength, @Nullable Integer immediate, @Nullable Integer invalidated,
            boolean isSolicited) {
        boolean isSuccess() {
            return status == WorkCompletionStatus.SUCCESS;
        }
    }

    /** Mapped memory that is to be written to its file. */
    record Flush(long offset, long length, long ticket) {}

    final Wire wire;
    final RcQueuePair queuePair;
    final PostedReceives receives;
    final Regions regions = new Regions();
    final MemorySegment memory = Arena.ofAuto().allocate(MEMORY, 64);
    /** The address of the memory for requests of both sides, and its key for both. */
    final long address;
    final int key;

    final List<Completion> completions = new ArrayList<>();
    final List<AsyncEventType> events = new ArrayList<>();
    /** The flushes that were to be begun. */
    final List<Flush> flushes = new ArrayList<>();
    boolean canFlush = true;
    /** Its way holds it up and loses nothing, as memory does. */
    boolean isLossless;
    /** Its queue pairs send one packet each in turns. */
    boolean sendsInTurns;
    /** Its packets may carry acknowledgements, as in memory. */
    boolean piggybacks;
    /** How many packets of a message go as one, through memory, to a peer on the same machine. */
    int packetsAsOne = 1;
    /** How many requests had completed each time that payloads were to be withdrawn. */
    final List<Integer> withdrawals = new ArrayList<>();
    /** How often it was told that the peer is ready. */
    int timesReady;
    /** Its network takes nothing. */
    boolean isHeldUp;
    /** Its path through memory has no room. */
    boolean hasNoRoom;
    /** The process stands still: it neither looks at packets nor at the time. */
    boolean isStopped;

    private final String device;
    private final int number;
    private final RoundTripEstimate roundTrips;
    private final PostedSends sends = new PostedSends();
    private final Deque<byte[]> arrived = new ArrayDeque<>();
    private final Map<Counter, Long> counts = new EnumMap<>(Counter.class);
    private final OutgoingPacket outgoing = packet();
    private long longestLackNs;
    private int lacks;
    private @Nullable RcEnd peer;
    private RcPair.Settings settings = new RcPair.Settings();

    /**
     * @param device the name of the device it belongs to
     * @param number tells it from others of the device
     * @param roundTrips what is known of the way to the peer's device
     */
    RcEnd(Wire wire, String device, int number, boolean hasSharedReceives,
            RoundTripEstimate roundTrips) {
        this.wire = wire;
        this.device = device;
        this.number = number;
        this.roundTrips = roundTrips;
        int distinct = device.hashCode() * 0x100 + number;
        address = distinct * 0x100000L;
        key = distinct;
        receives = new PostedReceives(hasSharedReceives);
        queuePair = new RcQueuePair(sends, receives, regions, this);
        byte[] bytes = new byte[UPPER];
        new Random(distinct).nextBytes(bytes);
        MemorySegment.copy(MemorySegment.ofArray(bytes), 0, memory, 0, bytes.length);
        regions.register(key, address, memory, EnumSet.allOf(AccessFlag.class));
        wire.attach(this);
    }

    private static OutgoingPacket packet() {
        return new OutgoingPacket();
    }

    RcEnd peer() {
        return Objects.requireNonNull(peer);
    }

    String device() {
        return device;
    }

    // ---------------------------------------------------------------- states

    /** Brings it from RESET to a state, by way of those between. */
    void bringTo(QueuePairState state, RcEnd newPeer, RcPair.Settings newSettings) {
        peer = newPeer;
        settings = newSettings;
        for (QueuePairState next : List.of(QueuePairState.INIT, QueuePairState.RTR,
                QueuePairState.RTS, state)) {
            if (queuePair.state() == state) {
                return;
            }
            modify(attributesFor(next));
        }
    }

    /** {@return what has to be said to go to a state from the present one} */
    QueuePairAttributes attributesFor(QueuePairState next) {
        QueuePairAttributes attributes = new QueuePairAttributes().state(next);
        return switch (queuePair.state()) {
            case RESET -> attributes.port(1).pkeyIndex(0).accessFlags(settings.access);
            case INIT -> next != QueuePairState.RTR ? attributes
                    : attributes.addressVector(AddressHandleAttributes.to(Gid.ZERO, 1))
                            .pathMtu(settings.mtu).destinationQueuePairNumber(peer().number)
                            .receivePsn(settings.firstPsn)
                            .maxDestinationReadAtomic(settings.readsServed)
                            .minRnrTimerCode(settings.minRnrTimer);
            case RTR -> next != QueuePairState.RTS ? attributes
                    : attributes.ackTimeoutExponent(settings.timeout)
                            .retryCount(settings.retryCount)
                            .rnrRetry(settings.rnrRetry).sendPsn(settings.firstPsn)
                            .maxReadAtomic(settings.readAtomic);
            case RTS, SQD, SQE, ERR -> attributes;
        };
    }

    /** Ends its life. What has arrived and what it could send is lost, as when a program stops and begins anew. */
    void reset() {
        arrived.clear();
        modify(new QueuePairAttributes().state(QueuePairState.RESET));
    }

    /** Modifies it as a device does that has checked the attributes. */
    void modify(QueuePairAttributes attributes) {
        try {
            QueuePairState next = InfinibandTransitions.INSTANCE.check(QueuePairType.RC,
                    queuePair.state(),
                    attributes);
            queuePair.modify(attributes, next, wire.nowNs());
            if (next == QueuePairState.RTR) {
                queuePair.route(Path.NONE);
            }
        } catch (RdmaException refused) {
            throw new AssertionError(refused);
        }
    }

    // ---------------------------------------------------------------- posting

    SendWorkRequest request(long id) {
        return new SendWorkRequest().id(id);
    }

    void post(SendWorkRequest request) {
        sends.post(request);
        queuePair.onSendPosted(wire.nowNs());
    }

    void post(ReceiveWorkRequest request) {
        receives.post(request);
        if (queuePair.wantsReceiveDoorbell()) {
            queuePair.onReceivePosted(wire.nowNs());
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
    void write(long id, int length) {
        post(writeRequest(id, length));
    }

    SendWorkRequest writeRequest(long id, int length) {
        return request(id).write(peer().address + UPPER, peer().key).add(address, length, key);
    }

    /** Posts a READ of the start of the peer's memory into the upper half. */
    void read(long id, int length) {
        post(request(id).read(peer().address, peer().key).add(address + UPPER, length, key));
    }

    /** Posts an addition to the first word of the peer's memory, whose old value goes to the upper half. */
    void add(long id, long amount) {
        post(request(id).fetchAndAdd(peer().address, peer().key, amount).add(address + UPPER,
                Long.BYTES, key));
    }

    /** {@return whether the upper half of this memory begins with the start of the peer's} */
    boolean hasPeersBytes(int length) {
        return MemorySegment.mismatch(memory, UPPER, UPPER + length, peer().memory, 0,
                length) == -1;
    }

    byte[] bytes() {
        return memory.toArray(ValueLayout.JAVA_BYTE);
    }

    /** {@return a word of the memory} */
    long word(long offset) {
        return memory.get(ValueLayout.JAVA_LONG, offset);
    }

    byte upperByte(int offset) {
        return memory.get(ValueLayout.JAVA_BYTE, UPPER + offset);
    }

    // ---------------------------------------------------------------- packets

    /** {@return a packet to the peer that this end would perhaps not send} Its PSN is counted from the first. */
    OutgoingPacket forge(Opcode opcode, int index) {
        return packet().begin(opcode, Path.NONE, peer().number, settings.firstPsn + index, true,
                false);
    }

    /** {@return the same with payload} */
    OutgoingPacket forge(Opcode opcode, int index, int payload) {
        OutgoingPacket forged = forge(opcode, index);
        forged.addPayload(memory, 0, payload);
        return forged;
    }

    /** {@return how many PSNs a packet is behind the first} */
    int index(PacketView packet) {
        return (int) (Psn.unwrap(packet.psn(), settings.firstPsn) - settings.firstPsn);
    }

    /** {@return the PSN of the packet that it would carry out next} */
    int expectedPsn() {
        QueuePairAttributes attributes = new QueuePairAttributes();
        queuePair.query(attributes);
        return attributes.receivePsn();
    }

    void arrive(byte[] bytes) {
        arrived.add(bytes);
    }

    /** {@return when it has something to do} */
    long wantsWorkAtNs() {
        if (isStopped) {
            return Long.MAX_VALUE;
        }
        return arrived.isEmpty() ? queuePair.deadlineNs() : wire.nowNs();
    }

    /** Takes what has arrived, looks at the time, sends what can be sent. */
    void work() {
        if (isStopped) {
            return;
        }
        long nowNs = wire.nowNs();
        for (int i = 0; i < RECEIVED_AT_ONCE && !arrived.isEmpty(); i++) {
            PacketView packet = Wire.view(arrived.remove());
            if (packet.destinationQueuePairNumber() != number) {
                throw new AssertionError(packet + " is for another queue pair");
            }
            queuePair.onPacket(packet, nowNs);
            wire.onReceived(this, packet);
        }
        if (queuePair.deadlineNs() <= nowNs) {
            queuePair.onDeadline(nowNs);
        }
        while (!isHeldUp && !hasNoRoom && queuePair.pollTransmit(outgoing, nowNs)) {
            if (!wire.send(this, outgoing)) {
                queuePair.onPayloadGone();
            }
        }
    }

    // ---------------------------------------------------------------- what it reports

    long counted(Counter counter) {
        return counts.getOrDefault(counter, 0L);
    }

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
        wire.onCompleted(this, request);
        complete(new Completion(request.id(), status, request.opcode().completionOpcode(),
                byteLength, null, null, false));
        sends.retire();
    }

    @Override
    public void receiveCompleted(ReceiveRequest request, WorkCompletionStatus status,
            WorkCompletionOpcode opcode, long byteLength, ReceiveDetails details) {
        receives.release(request);
        complete(new Completion(request.id(), status, opcode, byteLength,
                details.hasImmediate() ? details.immediateOrRkey() : null,
                details.hasInvalidate() ? details.immediateOrRkey() : null,
                details.isSolicited()));
    }

    private void complete(Completion completion) {
        completions.add(completion);
        wire.note(device + ": " + completion.id() + " " + completion.status());
    }

    @Override
    public void withdrawPayloads() {
        withdrawals.add(completions.size());
    }

    @Override
    public boolean flush(MemorySegment flushed, long offset, long length, long ticket) {
        flushes.add(new Flush(offset, length, ticket));
        return canFlush;
    }

    @Override
    public void stateChanged(QueuePairState state) {
        assertThat(queuePair.state()).isEqualTo(state);
        wire.note(device + ": " + state);
    }

    @Override
    public void asyncEvent(AsyncEventType type) {
        events.add(type);
        wire.note(device + ": " + type);
    }

    @Override
    public void peerIsReady() {
        timesReady++;
    }

    @Override
    public int maxSegments(Path path, int mtu) {
        return packetsAsOne;
    }

    @Override
    public int maxMiddleSegments(Path path) {
        return PACKETS_AT_ONCE;
    }

    @Override
    public boolean isLossless(Path path) {
        return isLossless;
    }

    @Override
    public boolean sendsInTurns() {
        return sendsInTurns;
    }

    @Override
    public boolean piggybacks(Path path) {
        return piggybacks;
    }

    @Override
    public boolean isHeldUp() {
        return isHeldUp;
    }

    @Override
    public RoundTripEstimate roundTrips(Path path) {
        return roundTrips;
    }

    @Override
    public void peerHasNoReceive(long forNs) {
        longestLackNs = forNs == 0 ? 0 : Math.max(longestLackNs, forNs);
        lacks += forNs == 0 ? 1 : 0;
    }

    /** {@return how long the peer has had no receive for a request, the last one for which it had none} */
    long longestLackNs() {
        return longestLackNs;
    }

    /** {@return for how many requests the peer had none at first} */
    int lacks() {
        return lacks;
    }

    @Override
    public void retransmits(int psn, RetransmissionCause cause) {
        wire.note(device + ": sends " + psn + " again, " + cause);
    }

    @Override
    public void count(Counter counter) {
        count(counter, 1);
    }

    @Override
    public void count(Counter counter, long times) {
        counts.merge(counter, times, Long::sum);
    }
}
