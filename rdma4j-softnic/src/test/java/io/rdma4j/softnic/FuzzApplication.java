// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic;

import io.rdma4j.verbs.FlushPlacement;
import io.rdma4j.verbs.FlushSelectivity;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.MemoryWindow;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.QueuePairState;
import io.rdma4j.verbs.QueuePairType;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.ReceiveWorkRequest;
import io.rdma4j.verbs.SendFlag;
import io.rdma4j.verbs.SendOpcode;
import io.rdma4j.verbs.SendWorkRequest;

import java.lang.foreign.MemorySegment;
import java.util.EnumSet;
import java.util.List;

/** What the input has the applications on both devices do. */
final class FuzzApplication {
    private final FuzzChoices choices;
    private final FuzzDevices devices;
    private final FuzzPackets packets;
    private int nextBuffer;
    private int sharedResets;

    FuzzApplication(FuzzChoices choices, FuzzDevices devices, FuzzPackets packets) {
        this.choices = choices;
        this.devices = devices;
        this.packets = packets;
    }

    /** {@return how often a queue pair that draws from the shared receive queue was reset} */
    int sharedResets() {
        return sharedResets;
    }

    void postSend() throws RdmaException {
        FuzzDevices.Target target = choices.of(devices.targets);
        SendOpcode opcode = choices.of(List.of(SendOpcode.values()));
        SendWorkRequest request = new SendWorkRequest().id(devices.ledger.newId()).opcode(opcode)
                .set(SendFlag.SIGNALED, choices.flag())
                .set(SendFlag.FENCE, choices.flag()
                        && target.queuePair().type() == QueuePairType.RC)
                .remote(packets.address(devices.open), packets.key(devices.open))
                .immediate(choices.u8());
        if (target.node().equals(devices.peer)) {
            // The peer has no memory here: inline data and empty messages are all it sends.
            request.inline(MemorySegment.ofArray(new byte[choices.below(65)]));
        } else {
            addPayload(request, opcode);
        }
        switch (opcode) {
            case FLUSH -> request.flush(request.remoteAddress(), request.rkey(), choices.u16(),
                    EnumSet.of(FlushPlacement.GLOBAL), FlushSelectivity.RANGE);
            case LOCAL_INVALIDATE, SEND_WITH_INVALIDATE ->
                request.invalidateRkey(choices.of(devices.windows).rkey());
            case BIND_MEMORY_WINDOW -> request.bind(devices.freeWindow,
                    MemoryWindow.nextRkey(devices.freeWindow.rkey()), devices.bind(1536));
            case SEND, SEND_WITH_IMMEDIATE, RDMA_WRITE, RDMA_WRITE_WITH_IMMEDIATE, RDMA_READ,
                    ATOMIC_COMPARE_AND_SWAP, ATOMIC_FETCH_AND_ADD, ATOMIC_WRITE -> {
                // Complete.
            }
        }
        if (target.queuePair().type() == QueuePairType.UD) {
            request.to(devices.toPeer, FuzzDevices.STRANGER, FuzzDevices.QKEY);
        }
        target.queuePair().postSend(request);
        devices.ledger.postedSend(target.queuePair().number(), request.id(),
                request.has(SendFlag.SIGNALED));
    }

    private void addPayload(SendWorkRequest request, SendOpcode opcode) {
        switch (opcode) {
            case FLUSH, LOCAL_INVALIDATE, BIND_MEMORY_WINDOW -> {
                // They have none.
            }
            case ATOMIC_COMPARE_AND_SWAP, ATOMIC_FETCH_AND_ADD, ATOMIC_WRITE -> {
                request.add(devices.results, nextBuffer(FuzzDevices.DEPTH), 8);
                request.remote(request.remoteAddress() & ~7, request.rkey());
            }
            case SEND, SEND_WITH_IMMEDIATE, SEND_WITH_INVALIDATE, RDMA_WRITE,
                    RDMA_WRITE_WITH_IMMEDIATE, RDMA_READ -> {
                MemoryRegion region = choices.below(16) == 15 ? choices.of(devices.regions)
                        : devices.results;
                if (region.equals(devices.underWindows)) {
                    // Its owner may write all of it, but here nothing may change.
                    region = devices.open;
                }
                long from = region.equals(devices.results) ? nextBuffer(FuzzDevices.DEPTH) : 0;
                request.add(region, from, choices.u16() % (2 * FuzzDevices.BUFFER));
                if (choices.flag()) {
                    request.add(devices.results, nextBuffer(FuzzDevices.DEPTH), choices.u8());
                }
            }
        }
    }

    private long nextBuffer(int count) {
        nextBuffer++;
        return (long) (nextBuffer % count) * FuzzDevices.BUFFER;
    }

    void postReceive() throws RdmaException {
        FuzzDevices.Target target = choices.of(devices.targets);
        ReceiveWorkRequest request = new ReceiveWorkRequest().id(devices.ledger.newId());
        if (target.node().equals(devices.victim)) {
            int first = choices.u8();
            request.add(choices.below(16) == 15 ? devices.open : devices.inbox,
                    nextBuffer(4 * FuzzDevices.DEPTH), first)
                    .add(devices.inbox, nextBuffer(4 * FuzzDevices.DEPTH),
                            FuzzDevices.BUFFER - first);
        }
        if (target.queuePair().sharedReceiveQueue() != null) {
            devices.sharedReceives.post(request);
            devices.ledger.postedShared(request.id());
        } else {
            target.queuePair().postReceive(request);
            devices.ledger.postedReceive(target.queuePair().number(), request.id());
        }
    }

    void changeState() throws RdmaException {
        FuzzDevices.Target target = choices.of(devices.targets);
        QueuePair queuePair = target.queuePair();
        switch (choices.below(8)) {
            case 0 -> {
                queuePair.modify(new QueuePairAttributes().state(QueuePairState.ERR));
                devices.takeCompletions();
                devices.ledger.assertFlushed(queuePair.number());
            }
            case 1 -> queuePair.modify(new QueuePairAttributes().state(QueuePairState.SQD)
                    .enableSqdAsyncNotify(choices.flag()));
            case 2 -> queuePair.modify(new QueuePairAttributes().maxReadAtomic(choices.below(8))
                    .maxDestinationReadAtomic(choices.below(8)));
            case 3, 4 -> queuePair
                    .modify(new QueuePairAttributes().state(QueuePairState.RTS));
            default -> {
                if (queuePair.sharedReceiveQueue() != null) {
                    // Completions that nobody has taken are forgotten with it, and could be of any shared receive.
                    devices.takeCompletions();
                }
                queuePair.modify(new QueuePairAttributes().state(QueuePairState.RESET));
                devices.takeCompletions();
                devices.ledger.reset(queuePair.number());
                sharedResets += queuePair.sharedReceiveQueue() == null ? 0 : 1;
                FuzzDevices.connect(queuePair, target.peerNumber(), target.peerGid(),
                        choices.below(4));
            }
        }
    }

    void changeMemory() throws RdmaException {
        MemoryRegion closing = devices.temporary;
        switch (choices.below(4)) {
            case 0 -> {
                if (closing != null) {
                    MemorySegment segment = closing.segment();
                    closing.close();
                    devices.memory.keep("closed region", segment);
                    devices.temporary = null;
                }
            }
            case 1 -> devices.bindFree(devices.targets.get(0).queuePair(), devices.ledger.newId());
            case 2 -> devices.targets.get(0).queuePair().bindMemoryWindow(devices.unsignaled(0),
                    devices.windows.get(0), devices.bind(512));
            default -> {
                int limit = choices.below(FuzzDevices.SHARED_DEPTH);
                devices.sharedReceives.arm(limit);
            }
        }
    }
}
