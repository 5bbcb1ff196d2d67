// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.protocol.roce.unreliable;

import io.rdma4j.protocol.count.Counter;
import io.rdma4j.protocol.roce.RoceHost;
import io.rdma4j.protocol.roce.wire.Opcode;
import io.rdma4j.protocol.roce.wire.OutgoingPacket;
import io.rdma4j.protocol.roce.wire.PacketView;
import io.rdma4j.protocol.roce.wire.Path;
import io.rdma4j.protocol.roce.wire.Psn;
import io.rdma4j.protocol.work.CopyOutcome;
import io.rdma4j.protocol.work.Memory;
import io.rdma4j.protocol.work.MemoryReference;
import io.rdma4j.protocol.work.ReceiveDetails;
import io.rdma4j.protocol.work.ReceiveQueue;
import io.rdma4j.protocol.work.ReceiveRequest;
import io.rdma4j.protocol.work.SendQueue;
import io.rdma4j.protocol.work.SendRequest;
import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.QueuePairAttribute;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.QueuePairState;
import io.rdma4j.verbs.SendOpcode;
import io.rdma4j.verbs.WorkCompletionOpcode;

/**
 * A queue pair of the unreliable connection service: SEND and WRITE of any length. A message with a missing packet is
 * dropped.
 *
 * <p>Only a complete message uses up a receive request. Data of an incomplete WRITE stays where it was written. Packets older
 * than the newest are dropped: the standard's fabrics never duplicate or reorder, but an IP network may, and must not
 * deliver a message twice ({@link UcSequence}). Source: IBTA 9.8.2.
 */
public final class UcQueuePair extends UnreliableQueuePair {
    private enum Message {
        NONE, SEND, WRITE
    }

    private final ReceiveDetails details = new ReceiveDetails();
    private final MemoryReference target = new MemoryReference();
    private Path path = Path.NONE;
    private int destinationQueuePair;
    private int access;
    private long receivePsn;

    private final UcSequence sequence = new UcSequence();
    private Message message = Message.NONE;
    private long received;
    private long writeAddress;
    private long writeLeft;
    private long writeLength;
    private int writeRkey;

    /** Creates one in state RESET over the host's queues and memory. */
    public UcQueuePair(SendQueue sendQueue, ReceiveQueue receiveQueue, Memory memory,
            RoceHost host) {
        super(sendQueue, receiveQueue, memory, host, 256);
    }

    @Override
    public void route(Path newPath) {
        path = newPath;
    }

    @Override
    public void query(QueuePairAttributes into) {
        super.query(into);
        if (state() == QueuePairState.RTR || state() == QueuePairState.RTS
                || state() == QueuePairState.SQD || state() == QueuePairState.SQE) {
            into.receivePsn(Psn.wrap(sequence.expected()));
        }
    }

    @Override
    void apply(QueuePairAttributes from) {
        if (from.isSet(QueuePairAttribute.ACCESS_FLAGS)) {
            access = AccessFlag.bits(from.accessFlags());
        }
        if (from.isSet(QueuePairAttribute.DESTINATION_QUEUE_PAIR)) {
            destinationQueuePair = from.destinationQueuePairNumber();
        }
        if (from.isSet(QueuePairAttribute.RECEIVE_PSN)) {
            receivePsn = from.receivePsn();
        }
    }

    @Override
    void startReceiving() {
        sequence.start(receivePsn);
        message = Message.NONE;
    }

    // ---------------------------------------------------------------- sending

    @Override
    boolean build(SendRequest request, long from, int payload, long psn, OutgoingPacket out) {
        boolean isFirst = from == 0;
        boolean isLast = from + payload == request.length();
        Opcode opcode = opcode(request.opcode(), isFirst, isLast);
        out.begin(opcode, path, destinationQueuePair, psn, false, isLast && request.isSolicited());
        if (opcode.hasRdma()) {
            out.rdma(request.remoteAddress(), request.rkey(), request.length());
        }
        if (opcode.hasImmediate()) {
            out.immediate(request.immediate());
        }
        return request.gather(from, payload, memory, out);
    }

    private static Opcode opcode(SendOpcode opcode, boolean isFirst, boolean isLast) {
        boolean isWrite = opcode == SendOpcode.RDMA_WRITE
                || opcode == SendOpcode.RDMA_WRITE_WITH_IMMEDIATE;
        boolean hasImmediate = opcode == SendOpcode.SEND_WITH_IMMEDIATE
                || opcode == SendOpcode.RDMA_WRITE_WITH_IMMEDIATE;
        if (isWrite) {
            if (!isLast) {
                return isFirst ? Opcode.UC_WRITE_FIRST : Opcode.UC_WRITE_MIDDLE;
            }
            if (hasImmediate) {
                return isFirst ? Opcode.UC_WRITE_ONLY_IMMEDIATE : Opcode.UC_WRITE_LAST_IMMEDIATE;
            }
            return isFirst ? Opcode.UC_WRITE_ONLY : Opcode.UC_WRITE_LAST;
        }
        if (!isLast) {
            return isFirst ? Opcode.UC_SEND_FIRST : Opcode.UC_SEND_MIDDLE;
        }
        if (hasImmediate) {
            return isFirst ? Opcode.UC_SEND_ONLY_IMMEDIATE : Opcode.UC_SEND_LAST_IMMEDIATE;
        }
        return isFirst ? Opcode.UC_SEND_ONLY : Opcode.UC_SEND_LAST;
    }

    // ---------------------------------------------------------------- receiving

    @Override
    void receive(PacketView packet) {
        switch (sequence.place(packet.psn())) {
            case NEXT -> take(packet);
            // [IBTA 9.8.2-2]
            case AHEAD -> {
                host.count(Counter.OUT_OF_SEQ_REQUEST);
                drop();
                take(packet);
            }
            case OLD -> host.count(Counter.DUPLICATE_REQUEST);
            case STRAY -> host.count(Counter.OUT_OF_SEQ_REQUEST);
        }
    }

    private void take(PacketView packet) {
        // [IBTA 9.8.2-1]
        Opcode opcode = packet.opcode();
        if (opcode.isStart()) {
            if (message != Message.NONE) {
                drop();
            }
            begin(packet);
        } else if (!continues(opcode)) {
            drop();
            return;
        }
        if (message != Message.NONE) {
            place(packet);
        }
        target.clear();
    }

    /** Drops the present message; its receive request waits for the next one. */
    private void drop() {
        if (message != Message.NONE) {
            message = Message.NONE;
            host.count(Counter.DROPPED_MESSAGE);
        }
    }

    private boolean continues(Opcode opcode) {
        return opcode.kind() == Opcode.Kind.SEND
                ? message == Message.SEND
                : message == Message.WRITE;
    }

    private void begin(PacketView packet) {
        if (packet.opcode().kind() == Opcode.Kind.SEND) {
            received = 0;
            message = takeReceive() == null ? Message.NONE : Message.SEND;
            return;
        }
        long length = packet.dmaLength();
        boolean isAllowed = (access & AccessFlag.REMOTE_WRITE.bit()) != 0
                && (length == 0 || memory.remote(packet.rkey(), packet.remoteAddress(), length,
                        AccessFlag.REMOTE_WRITE, target));
        if (!isAllowed) {
            host.count(Counter.DROPPED_MESSAGE);
            return;
        }
        message = Message.WRITE;
        writeAddress = packet.remoteAddress();
        writeRkey = packet.rkey();
        writeLeft = length;
        writeLength = length;
    }

    private void place(PacketView packet) {
        Opcode opcode = packet.opcode();
        int length = packet.payloadLength();
        boolean hasRightLength = opcode.isEnd() ? length <= mtu() : length == mtu();
        if (!hasRightLength) {
            drop();
        } else if (message == Message.SEND) {
            placeSend(packet, length);
        } else {
            placeWrite(packet, length);
        }
    }

    private void placeSend(PacketView packet, int length) {
        ReceiveRequest into = receive();
        // [IBTA 9.8.2-3]
        if (into == null || received + length > into.capacity()) {
            drop();
            return;
        }
        switch (into.scatter(received, packet.payloadMemory(), packet.payloadStart(), length,
                memory)) {
            case DONE -> {
                // Continues below.
            }
            case SOURCE_GONE -> {
                packet.onPayloadGone();
                drop();
                return;
            }
            case TARGET_REFUSED -> {
                message = Message.NONE;
                failReceive(into);
                return;
            }
        }
        received += length;
        if (packet.opcode().isEnd()) {
            message = Message.NONE;
            finish(packet, into, WorkCompletionOpcode.RECEIVE, received);
        }
    }

    private void placeWrite(PacketView packet, int length) {
        Opcode opcode = packet.opcode();
        boolean fits = opcode.isEnd() ? length == writeLeft : length < writeLeft;
        CopyOutcome outcome = fits ? write(packet, length) : CopyOutcome.TARGET_REFUSED;
        if (outcome == CopyOutcome.SOURCE_GONE) {
            packet.onPayloadGone();
        }
        if (outcome != CopyOutcome.DONE) {
            drop();
            return;
        }
        writeAddress += length;
        writeLeft -= length;
        if (opcode.isEnd()) {
            message = Message.NONE;
            ReceiveRequest consumed = opcode.hasImmediate() ? takeReceive() : null;
            if (consumed != null) {
                finish(packet, consumed, WorkCompletionOpcode.RECEIVE_RDMA_WITH_IMMEDIATE,
                        writeLength);
            }
        }
    }

    private CopyOutcome write(PacketView packet, int length) {
        if (length == 0) {
            return CopyOutcome.DONE;
        }
        return memory.remote(writeRkey, writeAddress, length, AccessFlag.REMOTE_WRITE, target)
                ? target.write(packet.payloadMemory(), packet.payloadStart(), length)
                : CopyOutcome.TARGET_REFUSED;
    }

    private void finish(PacketView packet, ReceiveRequest finished, WorkCompletionOpcode opcode,
            long length) {
        details.clear().solicited(packet.isSolicited());
        if (packet.opcode().hasImmediate()) {
            details.immediate(packet.immediate());
        }
        finishReceive(finished, opcode, length, details);
    }
}
