// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.examples.course;

import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.CompletionChannel;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.RdmaDevices;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.ReceiveWorkRequest;
import io.rdma4j.verbs.SendFlag;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.WorkCompletion;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.channels.SelectableChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.time.Duration;

/** Completions by polling, by events and by a selector. */
public final class Lesson07 {
    private Lesson07() {}

    /** Takes the name of a device; {@code roce_lo} without one. */
    public static void main(String... words) throws IOException {
        String device = words.length > 0 ? words[0] : "roce_lo";
        try (Arena arena = Arena.ofShared();
                CompletionChannel channel = CompletionChannel.create(); // 1
                DeviceContext context = RdmaDevices.find(device).open();
                ProtectionDomain domain = context.allocateProtectionDomain();
                CompletionQueue sends = context.createCompletionQueue(16);
                CompletionQueue receives = context.createCompletionQueue(16, channel); // 2
                QueuePair left = Lesson06.create(domain, sends);
                QueuePair right = Lesson06.create(domain, receives);
                MemoryRegion region = domain.register(arena.allocate(64),
                        AccessFlag.LOCAL_WRITE)) {
            Lesson06.connect(left, right);
            for (int i = 1; i <= 6; i++) {
                right.postReceive(new ReceiveWorkRequest().id(i).add(region, 32, 32));
            }
            SendWorkRequest send = new SendWorkRequest().send().add(region, 0, 8);

            left.postSend(send);
            WorkCompletion completion = new WorkCompletion();
            while (!receives.poll(completion)) { // 3
                Thread.onSpinWait();
            }
            System.out.println("by polling: receive " + completion.id());

            receives.requestNotification(); // 4
            left.postSend(send);
            CompletionQueue woken = channel.awaitEvent(); // 5
            woken.acknowledgeEvents(1); // 6
            woken.requestNotification(); // 7
            drain("by an event", woken); // 8

            SelectableChannel readable = channel.selectableChannel(); // 9
            readable.configureBlocking(false);
            try (Selector selector = Selector.open()) {
                readable.register(selector, SelectionKey.OP_READ);
                left.postSend(send);
                System.out.println("selected: " + selector.select(2000));
                channel.awaitEvent().acknowledgeEvents(1);
                drain("by a selector", receives);
            }

            receives.requestSolicitedNotification(); // 10
            left.postSend(send);
            System.out.println("not solicited: " + channel.pollEvent(Duration.ofMillis(20)));
            left.postSend(send.set(SendFlag.SOLICITED));
            channel.awaitEvent().acknowledgeEvents(1);
            drain("solicited", receives);
        }
    }

    private static void drain(String how, CompletionQueue queue) throws RdmaException {
        WorkCompletion completion = new WorkCompletion();
        while (queue.poll(completion)) {
            System.out.println(how + ": receive " + completion.id());
        }
    }
}
