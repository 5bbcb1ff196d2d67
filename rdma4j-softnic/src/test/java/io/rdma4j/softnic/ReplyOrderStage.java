// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic;

import io.rdma4j.cm.CmEventType;
import io.rdma4j.cm.CmId;
import io.rdma4j.connection.ConnectionParameters;
import io.rdma4j.connection.PortSpace;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.QueuePairCapabilities;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.WorkCompletion;
import io.rdma4j.verbs.WorkCompletionOpcode;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A send completes before the peer's reply to it: programs written for network cards reply, or send again, only if their
 * last send has completed by then, and stand still otherwise.
 */
abstract class ReplyOrderStage extends CmStage {
    private static final int ROUNDS = 500;
    private static final int LENGTH = 64;

    private final MemorySegment memory = Arena.ofAuto().allocate(2 * LENGTH);

    /** One end, with one queue for all its completions. */
    private static final class End {
        final List<String> order = new ArrayList<>();
        private final CmId id;
        private final CompletionQueue queue;
        private final WorkCompletion completion = new WorkCompletion();

        End(CmId id) throws RdmaException {
            this.id = id;
            queue = id.context().createCompletionQueue(16);
            id.createQueuePair(new QueuePairInitAttributes().completionQueue(queue)
                    .capabilities(QueuePairCapabilities.ofDepth(4, 4))
                    .signalAll(true));
        }

        /** Sends, and goes on when the reply has come; until then it posts nothing. */
        void ask(MemoryRegion region) throws Exception {
            for (int i = 0; i < ROUNDS; i++) {
                id.postReceive(0, region, LENGTH, LENGTH);
                id.postSend(0, region, 0, LENGTH);
                takeUntil(WorkCompletionOpcode.RECEIVE);
            }
        }

        /** Replies to each message at once. */
        void reply(MemoryRegion region) throws Exception {
            for (int i = 0; i < ROUNDS; i++) {
                takeUntil(WorkCompletionOpcode.RECEIVE);
                id.postReceive(0, region, LENGTH, LENGTH);
                id.postSend(0, region, 0, LENGTH);
            }
            takeUntil(WorkCompletionOpcode.SEND);
        }

        void close() throws RdmaException {
            id.closeQueuePair();
            queue.close();
        }

        private void takeUntil(WorkCompletionOpcode last) throws Exception {
            do {
                while (!queue.poll(completion)) {
                    if (Thread.interrupted()) {
                        throw new InterruptedException("the other end has failed");
                    }
                }
                assertThat(completion.isSuccess()).as(completion.toString()).isTrue();
                order.add(completion.opcode().name());
            } while (completion.opcode() != last);
        }

    }

    @Test
    @Timeout(60)
    void sendCompletesBeforeTheReplyToIt() throws Exception {
        CmId listener = listener(PortSpace.TCP, OWN);
        CmId client = id(PortSpace.TCP);
        resolve(client, listener.localAddress());
        End asking = new End(client);
        client.connect(new ConnectionParameters());
        CmId server = request();
        End replying = new End(server);
        try (MemoryRegion ofClient = client.registerMessages(memory);
                MemoryRegion ofServer = server.registerMessages(memory)) {
            server.postReceive(0, ofServer, LENGTH, LENGTH);
            server.accept();
            expect(CmEventType.ESTABLISHED).close();
            expect(CmEventType.ESTABLISHED).close();
            new Race().once("replying", () -> replying.reply(ofServer))
                    .once("asking", () -> asking.ask(ofClient)).run();
        }
        List<String> sendsFirst = new ArrayList<>();
        for (int i = 0; i < ROUNDS; i++) {
            sendsFirst.addAll(List.of("SEND", "RECEIVE"));
        }
        assertThat(asking.order).isEqualTo(sendsFirst);
        for (End end : List.of(asking, replying)) {
            end.close();
        }
    }
}
