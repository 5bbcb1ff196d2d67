// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic;

import io.rdma4j.verbs.PostException;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairType;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.ReceiveWorkRequest;
import io.rdma4j.verbs.SendBatch;
import io.rdma4j.verbs.SendFlag;
import io.rdma4j.verbs.SendWorkRequest;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;

/** Threads that post: one by one, in lists and piece by piece, and receives wherever there is room. */
final class StressPosting {
    private final StressStage stage;
    private final StressObjects objects;
    private final StressLedger ledger;

    StressPosting(StressStage stage, StressObjects objects, StressLedger ledger) {
        this.stage = stage;
        this.objects = objects;
        this.ledger = ledger;
    }

    void post(Random random) throws RdmaException {
        if (ledger.openSends.size() > StressStage.MOST_OPEN) {
            StressStage.pause();
            return;
        }
        int index = random.nextInt(objects.posting.size());
        QueuePair queuePair = objects.posting.get(index);
        switch (random.nextInt(3)) {
            case 0 -> {
                SendWorkRequest request = request(queuePair, random, index);
                try {
                    queuePair.postSend(request);
                } catch (RdmaException refused) {
                    ledger.unposted(request, queuePair);
                    backOff(refused);
                }
            }
            case 1 -> {
                List<SendWorkRequest> requests = List.of(request(queuePair, random, index),
                        request(queuePair, random, index), request(queuePair, random, index));
                try {
                    queuePair.postSend(requests);
                } catch (PostException refused) {
                    requests.subList(refused.failedIndex(), 3)
                            .forEach(request -> ledger.unposted(request, queuePair));
                    backOff(refused);
                }
            }
            default -> postBatch(queuePair, random, index);
        }
    }

    private SendWorkRequest request(QueuePair queuePair, Random random, int index)
            throws RdmaException {
        SendWorkRequest request = new SendWorkRequest().id(stage.newId())
                .set(SendFlag.SIGNALED);
        boolean isDatagram = queuePair.type() == QueuePairType.UD;
        int longest = isDatagram ? 1000 : StressObjects.LENGTH;
        switch (random.nextInt(switch (queuePair.type()) {
            case RC -> 5;
            case UC -> 3;
            case UD, RAW_PACKET, XRC_SEND, XRC_RECEIVE, DRIVER -> 2;
        })) {
            case 0 -> request.send().add(objects.source, 0, random.nextInt(longest));
            case 1 -> request.sendWithImmediate(7)
                    .inline(objects.source.segment().asSlice(0, random.nextInt(65)));
            case 2 -> request.write(objects.target.address(), objects.target.rkey())
                    .add(objects.source, 0, StressObjects.LENGTH);
            case 3 -> request.read(objects.source.address(), objects.source.rkey())
                    .add(objects.target, 0, StressObjects.LENGTH);
            default -> request.fetchAndAdd(objects.counter.address(), objects.counter.rkey(), 1)
                    .add(objects.inbox, 0, 8);
        }
        if (isDatagram) {
            request.to(objects.toSelf, objects.receiving.get(index).number(), StressStage.QKEY);
        }
        ledger.posted(request, queuePair);
        return request;
    }

    private void postBatch(QueuePair queuePair, Random random, int index)
            throws RdmaException {
        List<SendWorkRequest> staged = new ArrayList<>();
        SendBatch batch = queuePair.startBatch();
        for (int i = random.nextInt(4); i >= 0; i--) {
            SendWorkRequest mirror = new SendWorkRequest().id(stage.newId()).send();
            batch.id(mirror.id()).flags(SendFlag.SIGNALED).send();
            if (random.nextBoolean()) {
                batch.inline(objects.source.segment().asSlice(0, 60));
            } else {
                batch.add(objects.source, 0, 60);
            }
            if (queuePair.type() == QueuePairType.UD) {
                batch.to(objects.toSelf, objects.receiving.get(index).number(), StressStage.QKEY);
            }
            ledger.posted(mirror, queuePair);
            staged.add(mirror);
        }
        if (random.nextInt(4) == 0) {
            batch.close();
            staged.forEach(request -> ledger.unposted(request, queuePair));
            return;
        }
        try {
            batch.post();
        } catch (RdmaException refused) {
            staged.forEach(request -> ledger.unposted(request, queuePair));
            backOff(refused);
        }
    }

    private static void backOff(RdmaException refused) throws RdmaException {
        if (!StressStage.isFull(refused)) {
            throw refused;
        }
        StressStage.pause();
    }

    void postReceives() throws RdmaException {
        topUp(new ReceiveWorkRequest());
        StressStage.pause();
    }

    /** Posts receives until all queues are full. */
    void topUp(ReceiveWorkRequest request) throws RdmaException {
        for (QueuePair queuePair : objects.receiving) {
            boolean hasRoom = true;
            while (hasRoom && ledger.openReceives.size() + ledger.openShared.size() < 2
                    * StressStage.MOST_OPEN) {
                long id = stage.newId();
                request.clear().id(id).add(objects.inbox, 0, objects.inbox.length());
                boolean isShared = queuePair.sharedReceiveQueue() != null;
                Set<Long> opened = isShared ? ledger.openShared : ledger.openReceives;
                opened.add(id);
                try {
                    if (isShared) {
                        objects.shared.post(request);
                    } else {
                        queuePair.postReceive(request);
                    }
                } catch (RdmaException refused) {
                    opened.remove(id);
                    if (!StressStage.isFull(refused)) {
                        throw refused;
                    }
                    hasRoom = false;
                }
            }
        }
    }
}
