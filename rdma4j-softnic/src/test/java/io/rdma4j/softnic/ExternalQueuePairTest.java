// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic;

import io.rdma4j.cm.CmEvent;
import io.rdma4j.cm.CmEventType;
import io.rdma4j.cm.CmId;
import io.rdma4j.connection.ConnectionParameters;
import io.rdma4j.connection.PortSpace;
import io.rdma4j.testkit.Wait;
import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.QueuePairState;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.ReceiveWorkRequest;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.WorkCompletion;
import org.junit.jupiter.api.Test;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

import static org.assertj.core.api.Assertions.assertThat;

/** Queue pairs of the application's own, brought up with the attributes the ids tell. */
class ExternalQueuePairTest extends CmStage {
    /** A queue pair with what it needs, all of the application's own. */
    private record Own(ProtectionDomain domain, CompletionQueue completions, QueuePair queuePair)
            implements
                AutoCloseable {
        static Own of(CmId id) throws RdmaException {
            ProtectionDomain domain = id.context().allocateProtectionDomain();
            CompletionQueue completions = id.context().createCompletionQueue(16);
            QueuePair queuePair = domain
                    .createQueuePair(new QueuePairInitAttributes().completionQueue(completions));
            queuePair.modify(id.initQueuePairAttributes(QueuePairState.INIT));
            return new Own(domain, completions, queuePair);
        }

        void ready(CmId id) throws RdmaException {
            queuePair.modify(id.initQueuePairAttributes(QueuePairState.RTR));
            queuePair.modify(id.initQueuePairAttributes(QueuePairState.RTS));
        }

        ConnectionParameters parameters() {
            return new ConnectionParameters().queuePairNumber(queuePair.number());
        }

        WorkCompletion await() throws RdmaException {
            WorkCompletion completion = new WorkCompletion();
            Wait.until("a request completes", () -> completions.poll(completion));
            return completion;
        }

        @Override
        public void close() throws RdmaException {
            queuePair.close();
            completions.close();
            domain.close();
        }
    }

    @Test
    void connectionStandsOnceTheResponseIsEstablished() throws Exception {
        CmId listener = listener(PortSpace.TCP, OWN);
        CmId client = id(PortSpace.TCP);
        resolve(client, listener.localAddress());
        try (Own ours = Own.of(client)) {
            assertRefused(() -> client.initQueuePairAttributes(QueuePairState.RTR), Errno.EINVAL);
            client.connect(ours.parameters());
            CmId server = request();
            try (Own theirs = Own.of(server)) {
                theirs.ready(server);
                server.accept(theirs.parameters().privateData(bytes("ready")));
                try (CmEvent response = expect(CmEventType.CONNECT_RESPONSE)) {
                    ConnectionParameters granted = response.parameters();
                    assertThat(granted).isNotNull();
                    assertThat(granted.queuePairNumber()).isEqualTo(theirs.queuePair.number());
                    assertThat(response.privateData()).startsWith(bytes("ready"));
                }
                ours.ready(client);
                client.establish();
                expect(CmEventType.ESTABLISHED).close();
                assertRefused(client::establish, Errno.EINVAL, "connected");
                assertRefused(server::communicationEstablished,
                        Errno.EISCONN);

                MemorySegment memory = Arena.ofAuto().allocate(64);
                try (MemoryRegion from = ours.domain.register(memory);
                        MemoryRegion to = theirs.domain.register(memory,
                                AccessFlag.LOCAL_WRITE)) {
                    memory.setString(0, "hello");
                    theirs.queuePair.postReceive(new ReceiveWorkRequest().id(1).add(to, 32, 32));
                    ours.queuePair.postSend(new SendWorkRequest().id(2).add(from, 0, 6));
                    assertThat(theirs.await().isSuccess()).isTrue();
                    assertThat(memory.getString(32)).isEqualTo("hello");
                }
                client.disconnect();
                expect(CmEventType.DISCONNECTED).close();
                expect(CmEventType.DISCONNECTED).close();
            }
        }
    }

    @Test
    void responseCanBeRejected() throws Exception {
        CmId listener = listener(PortSpace.TCP, OWN);
        CmId client = id(PortSpace.TCP);
        resolve(client, listener.localAddress());
        client.connect(new ConnectionParameters().queuePairNumber(5));
        CmId server = request();
        server.accept(new ConnectionParameters().queuePairNumber(6));
        expect(CmEventType.CONNECT_RESPONSE).close();
        client.reject(bytes("after all, no"));
        try (CmEvent event = expect(CmEventType.REJECTED)) {
            assertThat(event.id()).isSameAs(server);
            assertThat(event.status()).isEqualTo(28);
            assertThat(event.privateData()).startsWith(bytes("after all, no"));
        }
    }

    @Test
    void firstMessageEstablishesThoughThePeersWordIsMissing() throws Exception {
        CmId listener = listener(PortSpace.TCP, OWN);
        CmId client = id(PortSpace.TCP);
        resolve(client, listener.localAddress());
        client.connect(new ConnectionParameters().queuePairNumber(5));
        CmId server = request();
        assertRefused(server::communicationEstablished, Errno.EINVAL);
        server.accept(new ConnectionParameters().queuePairNumber(6));
        expect(CmEventType.CONNECT_RESPONSE).close();
        // The client says nothing, but its first message is there already.
        server.communicationEstablished();
        try (CmEvent event = expect(CmEventType.ESTABLISHED)) {
            assertThat(event.id()).isSameAs(server);
        }
        client.establish();
    }

    @Test
    void idsWithAQueuePairOfTheirOwnEstablishByThemselves() throws Exception {
        CmId listener = listener(PortSpace.TCP, OWN);
        CmId client = id(PortSpace.TCP);
        resolve(client, listener.localAddress());
        client.createQueuePair(reliable());
        client.connect(new ConnectionParameters());
        assertRefused(client::establish, Errno.EINVAL, "of its own");
        request().close();
        expect(CmEventType.REJECTED).close();
    }
}
