// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic;

import io.rdma4j.cm.CmEvent;
import io.rdma4j.cm.CmEventType;
import io.rdma4j.cm.CmId;
import io.rdma4j.connection.ConnectionParameters;
import io.rdma4j.connection.DatagramParameters;
import io.rdma4j.connection.PortSpace;
import io.rdma4j.verbs.AddressHandle;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.QueuePairCapabilities;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.QueuePairType;
import io.rdma4j.verbs.SendFlag;
import org.junit.jupiter.api.Test;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

import static io.rdma4j.verbs.AddressHandle.GLOBAL_ROUTE_LENGTH;
import static org.assertj.core.api.Assertions.assertThat;

/** The short forms of an id's queue pair, with what a program gets that asks for nothing special. */
class ShortFormTest extends CmStage {
    private final MemorySegment memory = Arena.ofAuto().allocate(256);

    /** {@return the server's id of an established connection} */
    private CmId connect(CmId client, QueuePairInitAttributes ofClient) throws Exception {
        CmId listener = listener(PortSpace.TCP, OWN);
        resolve(client, listener.localAddress());
        client.createQueuePair(ofClient);
        client.connect(new ConnectionParameters());
        CmId server = request();
        server.createQueuePair();
        server.accept();
        expect(CmEventType.ESTABLISHED).close();
        expect(CmEventType.ESTABLISHED).close();
        return server;
    }

    private static MemorySegment unregistered(int length) {
        return MemorySegment.ofArray(new byte[length]);
    }

    @Test
    void smallMessagesNeedNoRegionAndNoPreparation() throws Exception {
        CmId client = id(PortSpace.TCP);
        CmId server = connect(client, new QueuePairInitAttributes());
        try (MemoryRegion region = server.registerMessages(memory)) {
            server.postReceive(1, region, 0, 256);
            client.postSend(2, unregistered(CmId.INLINE_DATA), SendFlag.SIGNALED);
            assertThat(server.awaitReceiveCompletion().byteLength()).isEqualTo(CmId.INLINE_DATA);
            assertThat(client.awaitSendCompletion().isSuccess()).isTrue();
            assertRefused(() -> client.postSend(3, unregistered(CmId.INLINE_DATA + 1)),
                    Errno.EINVAL, "65", "64", "withInlineData", "registered region");
        }
    }

    @Test
    void moreInlineDataIsThereForWhoAsksForIt() throws Exception {
        CmId client = id(PortSpace.TCP);
        CmId server = connect(client, new QueuePairInitAttributes()
                .capabilities(QueuePairCapabilities.ofDepth(2, 2).withInlineData(200)));
        assertThat(client.queuePair().capabilities().maxInlineData()).isEqualTo(200);
        try (MemoryRegion region = server.registerMessages(memory)) {
            server.postReceive(1, region, 0, 256);
            client.postSend(2, unregistered(200));
            assertThat(server.awaitReceiveCompletion().byteLength()).isEqualTo(200);
        }
    }

    @Test
    void datagramsTakeTheQkeyOfTheEvent() throws Exception {
        CmId listener = listener(PortSpace.UDP, OWN);
        CmId client = id(PortSpace.UDP);
        resolve(client, listener.localAddress());
        client.createQueuePair(new QueuePairInitAttributes().type(QueuePairType.UD));
        client.connect(new ConnectionParameters());
        CmId server = request();
        server.createQueuePair(new QueuePairInitAttributes().type(QueuePairType.UD));
        server.accept(new ConnectionParameters().qkey(0x1111));
        DatagramParameters found;
        try (CmEvent established = expect(CmEventType.ESTABLISHED)) {
            found = established.datagram();
            assertThat(found).isNotNull();
        }
        try (MemoryRegion region = client.registerMessages(memory);
                AddressHandle there = client.protectionDomain().createAddressHandle(found.path())) {
            server.postReceive(1, region, 0, 128);
            server.postReceive(2, region, 0, 128);
            client.postDatagram(3, region, 0, 7, there, found);
            assertThat(server.awaitReceiveCompletion().byteLength())
                    .isEqualTo(GLOBAL_ROUTE_LENGTH + 7);
            client.postDatagram(4, unregistered(9), there, found);
            assertThat(server.awaitReceiveCompletion().byteLength())
                    .isEqualTo(GLOBAL_ROUTE_LENGTH + 9);
        }
    }
}
