// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.protocol.roce.unreliable;

import io.rdma4j.protocol.count.Counter;
import io.rdma4j.protocol.roce.RoceHost;
import io.rdma4j.protocol.roce.wire.GlobalRouteHeader;
import io.rdma4j.protocol.roce.wire.Opcode;
import io.rdma4j.protocol.roce.wire.OutgoingPacket;
import io.rdma4j.protocol.roce.wire.PacketView;
import io.rdma4j.protocol.roce.wire.Path;
import io.rdma4j.protocol.work.CopyOutcome;
import io.rdma4j.protocol.work.Memory;
import io.rdma4j.protocol.work.ReceiveDetails;
import io.rdma4j.protocol.work.ReceiveQueue;
import io.rdma4j.protocol.work.ReceiveRequest;
import io.rdma4j.protocol.work.SendQueue;
import io.rdma4j.protocol.work.SendRequest;
import io.rdma4j.verbs.QueuePairAttribute;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.SendOpcode;
import io.rdma4j.verbs.WorkCompletionOpcode;

import java.lang.foreign.MemorySegment;

/**
 * A queue pair of the unreliable datagram service: one packet for each message, to any queue pair whose
 * Q_Key the sender knows.
 *
 * <p>Source: IBTA 9.8.3, 10.2.5 for Q_Keys.
 */
public final class UdQueuePair extends UnreliableQueuePair {
    /** Only privileged users may send it; in a request this bit asks for the queue pair's own Q_Key. */
    private static final int PRIVILEGED_QKEY = 1 << 31;

    private final int number;
    private final MemorySegment header = MemorySegment
            .ofArray(new long[GlobalRouteHeader.LENGTH / Long.BYTES]);
    private final ReceiveDetails details = new ReceiveDetails();
    private int qkey;

    /**
     * Creates one in state RESET over the host's queues and memory.
     *
     * @param number its number
     */
    public UdQueuePair(int number, SendQueue sendQueue, ReceiveQueue receiveQueue, Memory memory,
            RoceHost host) {
        super(sendQueue, receiveQueue, memory, host, Integer.MAX_VALUE);
        this.number = number;
    }

    @Override
    public void route(Path path) {
        throw new IllegalArgumentException("each datagram has a path of its own");
    }

    @Override
    void apply(QueuePairAttributes from) {
        if (from.isSet(QueuePairAttribute.QKEY)) {
            qkey = from.qkey();
        }
    }

    @Override
    void startReceiving() {
        // Every packet is a message.
    }

    @Override
    boolean build(SendRequest request, long from, int payload, long psn, OutgoingPacket out) {
        boolean hasImmediate = request.opcode() == SendOpcode.SEND_WITH_IMMEDIATE;
        out.begin(hasImmediate ? Opcode.UD_SEND_ONLY_IMMEDIATE : Opcode.UD_SEND_ONLY,
                path(request), request.remoteQueuePairNumber(), psn, false, request.isSolicited());
        out.datagram(
                (request.remoteQkey() & PRIVILEGED_QKEY) != 0 ? qkey : request.remoteQkey(),
                number);
        if (hasImmediate) {
            out.immediate(request.immediate());
        }
        return request.gather(from, payload, memory, out);
    }

    private static Path path(SendRequest request) {
        if (request.route() instanceof Path path) {
            return path;
        }
        throw new IllegalArgumentException("the datagram has no path: " + request.route());
    }

    @Override
    void receive(PacketView packet) {
        // [IBTA 9.6.1-4]
        if (packet.qkey() != qkey) {
            host.count(Counter.DROPPED_BAD_QKEY);
            return;
        }
        ReceiveRequest into = takeReceive();
        if (into == null) {
            return;
        }
        int length = packet.payloadLength();
        // [IBTA 9.8.3-2]
        if (GlobalRouteHeader.LENGTH + length > into.capacity()) {
            host.count(Counter.DROPPED_MESSAGE);
            return;
        }
        // [IBTA 9.8.3-1]
        GlobalRouteHeader.write(packet, header);
        CopyOutcome outcome = into.scatter(0, header, 0, GlobalRouteHeader.LENGTH, memory);
        if (outcome == CopyOutcome.DONE) {
            outcome = into.scatter(GlobalRouteHeader.LENGTH, packet.payloadMemory(),
                    packet.payloadStart(), length, memory);
        }
        switch (outcome) {
            case DONE -> finish(packet, into, length);
            // The receive request waits for the next.
            case SOURCE_GONE -> packet.onPayloadGone();
            case TARGET_REFUSED -> failReceive(into);
        }
    }

    private void finish(PacketView packet, ReceiveRequest into, int length) {
        details.clear().solicited(packet.isSolicited()).datagram(packet.sourceQueuePairNumber())
                .routed();
        if (packet.opcode().hasImmediate()) {
            details.immediate(packet.immediate());
        }
        finishReceive(into, WorkCompletionOpcode.RECEIVE, GlobalRouteHeader.LENGTH + length,
                details);
    }
}
