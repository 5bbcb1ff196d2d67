// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.protocol.roce.unreliable;

import io.rdma4j.protocol.count.Counter;
import io.rdma4j.protocol.roce.RetransmissionCause;
import io.rdma4j.protocol.roce.RoceHost;
import io.rdma4j.protocol.roce.wire.Opcode;
import io.rdma4j.protocol.roce.wire.OutgoingPacket;
import io.rdma4j.protocol.roce.wire.Path;
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
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Random;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * One end without acknowledgements: a queue pair over queues and memory that are no more than lists, and the host that it
 * reports to. The lower half of the memory is what it sends, the upper half is where messages arrive.
 */
final class UnreliableEnd implements RoceHost {
    static final int MEMORY = 1 << 16;
    static final int UPPER = MEMORY / 2;

    /** One work completion. {@code immediate} is null if there was none. */
    record Completion(long id, WorkCompletionStatus status, WorkCompletionOpcode opcode,
            long byteLength, @Nullable Integer immediate, boolean isSolicited,
            @Nullable Integer sourceQueuePair, boolean hasRoute) {}

    final UnreliablePair pair;
    final String name;
    final int number;
    final UnreliableQueuePair queuePair;
    final PostedSends sends = new PostedSends();
    final PostedReceives receives;
    final Regions regions = new Regions();
    final MemorySegment memory = Arena.ofAuto().allocate(MEMORY, 64);
    final long address;
    final int key;
    final List<Completion> completions = new ArrayList<>();
    final List<AsyncEventType> events = new ArrayList<>();
    int timesReady;

    private final QueuePairType type;
    private final UnreliablePair.Settings settings;
    private final Map<Counter, Long> counts = new EnumMap<>(Counter.class);
    private final OutgoingPacket outgoing = packet();

    UnreliableEnd(UnreliablePair pair, String name, int number, UnreliablePair.Settings settings) {
        this.pair = pair;
        this.name = name;
        this.number = number;
        this.settings = settings;
        type = settings.type;
        address = number * 0x1000_0000L;
        key = number;
        receives = new PostedReceives(settings.hasSharedReceives);
        queuePair = type == QueuePairType.UC
                ? new UcQueuePair(sends, receives, regions, this)
                : new UdQueuePair(number, sends, receives, regions, this);
        byte[] bytes = new byte[UPPER];
        new Random(number).nextBytes(bytes);
        MemorySegment.copy(MemorySegment.ofArray(bytes), 0, memory, 0, bytes.length);
        regions.register(key, address, memory, EnumSet.allOf(AccessFlag.class));
    }

    private static OutgoingPacket packet() {
        return new OutgoingPacket();
    }

    UnreliableEnd peer() {
        return pair.a == this ? pair.b : pair.a;
    }

    Gid gid() {
        return pair.gid(this);
    }

    // ---------------------------------------------------------------- states

    /** Brings it from RESET to a state, by way of those between. */
    void bringTo(QueuePairState state) {
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
        boolean isUc = type == QueuePairType.UC;
        return switch (queuePair.state()) {
            case RESET -> {
                attributes.port(1).pkeyIndex(0);
                yield isUc ? attributes.accessFlags(settings.access)
                        : attributes.qkey(settings.qkey);
            }
            case INIT -> next == QueuePairState.RTR && isUc
                    ? attributes.addressVector(AddressHandleAttributes.to(peer().gid(), 1))
                            .pathMtu(settings.mtu).destinationQueuePairNumber(peer().number)
                            .receivePsn(settings.firstPsn)
                    : attributes;
            case RTR -> next == QueuePairState.RTS ? attributes.sendPsn(settings.firstPsn)
                    : attributes;
            case RTS, SQD, SQE, ERR -> attributes;
        };
    }

    /** Modifies it as a device does that has checked the attributes. */
    void modify(QueuePairAttributes attributes) {
        try {
            QueuePairState next = InfinibandTransitions.INSTANCE.check(type, queuePair.state(),
                    attributes);
            queuePair.modify(attributes, next, 0);
            if (next == QueuePairState.RTR && type == QueuePairType.UC) {
                queuePair.route(way());
            }
        } catch (RdmaException refused) {
            throw new AssertionError(refused);
        }
    }

    void modify(QueuePairState state) {
        modify(new QueuePairAttributes().state(state));
    }

    /** {@return the way of packets to the peer} */
    Path way() {
        return Path.between(gid(), peer().gid());
    }

    // ---------------------------------------------------------------- posting

    SendWorkRequest request(long id) {
        return new SendWorkRequest().id(id);
    }

    void post(SendWorkRequest request) {
        if (type == QueuePairType.UD) {
            sends.post(request, way());
        } else {
            sends.post(request);
        }
        queuePair.onSendPosted(0);
    }

    void post(ReceiveWorkRequest request) {
        receives.post(request);
        if (queuePair.wantsReceiveDoorbell()) {
            queuePair.onReceivePosted(0);
        }
    }

    /** Posts a receive into the upper half of the memory. */
    void receive(long id, int length) {
        post(new ReceiveWorkRequest().id(id).add(address + UPPER, length, key));
    }

    /** {@return a SEND from the start of the memory} */
    SendWorkRequest sendRequest(long id, int length) {
        return request(id).send().add(address, length, key);
    }

    void send(long id, int length) {
        post(sendRequest(id, length));
    }

    /** Posts a WRITE from the start of the memory to the upper half of the peer's. */
    void write(long id, int length) {
        post(request(id).write(peer().address + UPPER, peer().key).add(address, length, key));
    }

    /** {@return whether the upper half of this memory has the start of the peer's from an offset on, and nothing behind it} */
    boolean hasPeersBytes(int offset, int length) {
        return MemorySegment.mismatch(memory, UPPER + offset, UPPER + offset + length,
                peer().memory, 0, length) == -1
                && memory.get(ValueLayout.JAVA_BYTE, UPPER + offset + length) == 0;
    }

    byte[] bytes() {
        return memory.toArray(ValueLayout.JAVA_BYTE);
    }

    // ---------------------------------------------------------------- packets

    /** {@return a packet to the peer that this end would perhaps not send} Its PSN is counted from the first. */
    OutgoingPacket forge(Opcode opcode, int index, int payload) {
        OutgoingPacket forged = packet().begin(opcode, way(), peer().number,
                settings.firstPsn + index, false, false);
        if (payload > 0) {
            forged.addPayload(memory, 0, payload);
        }
        return forged;
    }

    /** Sends what can be sent. */
    void transmit() {
        while (queuePair.pollTransmit(outgoing, 0)) {
            if (!pair.carry(this, outgoing)) {
                queuePair.onPayloadGone();
            }
        }
    }

    // ---------------------------------------------------------------- what it reports

    long counted(Counter counter) {
        return counts.getOrDefault(counter, 0L);
    }

    /** {@return everything that was counted} */
    Map<Counter, Long> counts() {
        return counts;
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
        completions.add(new Completion(request.id(), status, request.opcode().completionOpcode(),
                byteLength, null, false, null, false));
        sends.retire();
    }

    @Override
    public void receiveCompleted(ReceiveRequest request, WorkCompletionStatus status,
            WorkCompletionOpcode opcode, long byteLength, ReceiveDetails details) {
        receives.release(request);
        completions.add(new Completion(request.id(), status, opcode, byteLength,
                details.hasImmediate() ? details.immediateOrRkey() : null, details.isSolicited(),
                details.isDatagram() ? details.sourceQueuePairNumber() : null, details.hasRoute()));
    }

    @Override
    public boolean flush(MemorySegment flushed, long offset, long length, long ticket) {
        throw new AssertionError("unreliable services have no FLUSH");
    }

    @Override
    public void stateChanged(QueuePairState state) {
        assertThat(queuePair.state()).isEqualTo(state);
    }

    @Override
    public void asyncEvent(AsyncEventType event) {
        events.add(event);
    }

    @Override
    public void peerIsReady() {
        timesReady++;
    }

    @Override
    public void retransmits(int psn, RetransmissionCause cause) {
        throw new AssertionError("unreliable services send nothing again");
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
