// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets;

import io.rdma4j.cm.CmId;
import io.rdma4j.connection.ConnectionParameters;
import io.rdma4j.connection.PortSpace;
import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.QueuePairCapabilities;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.ReceiveWorkRequest;
import io.rdma4j.verbs.SendWorkRequest;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.ServerSocketChannel;
import java.time.Duration;

/**
 * A peer that speaks the connection manager and the verbs, and of rsockets what a test has it say. It has one page that the other
 * side may write to.
 */
final class HandMadePeer implements AutoCloseable {
    private static final Duration PATIENCE = Duration.ofSeconds(10);
    private static final int BYTES = 4096;
    private static final int RECEIVES = 32;
    private static final int WORD = 4;

    private final Transport transport;
    private final CmId id;
    private final MemoryRegion region;

    private HandMadePeer(Transport transport, CmId id, MemoryRegion region) {
        this.transport = transport;
        this.id = id;
        this.region = region;
    }

    /** {@return connection data that gives 16 credits, a slot for a range and a buffer of half a page} */
    static byte[] honest() {
        return ByteBuffer.allocate(40).put((byte) 1).put((byte) 2).putShort((short) 16)
                .putInt(20, 2)
                .putInt(36, 2048).array();
    }

    /** Connects, by data to which the addresses of the page are added if they are long enough. */
    static HandMadePeer connect(Transport transport, ServerSocketChannel listener,
            byte[] privateData) throws IOException {
        CmId id = CmId.create(PortSpace.TCP);
        try {
            id.device(transport.device());
            id.resolveAddress((InetSocketAddress) listener.getLocalAddress(), PATIENCE);
            id.resolveRoute(PATIENCE);
            id.createQueuePair(new QueuePairInitAttributes()
                    .capabilities(new QueuePairCapabilities(64, 64, 1, 1, 64)));
            MemoryRegion region = id.protectionDomain().allocateRegion(BYTES,
                    AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE);
            HandMadePeer peer = new HandMadePeer(transport, id, region);
            try {
                peer.greet(privateData);
            } catch (IOException | RuntimeException | Error e) {
                id.closeQueuePair();
                region.close();
                throw e;
            }
            return peer;
        } catch (IOException | RuntimeException | Error e) {
            id.close();
            throw e;
        }
    }

    private void greet(byte[] privateData) throws IOException {
        for (int i = 0; i < RECEIVES; i++) {
            ReceiveWorkRequest receive = new ReceiveWorkRequest();
            if (transport == Transport.IWARP) {
                receive.add(region, BYTES - WORD, WORD);
            }
            id.queuePair().postReceive(receive);
        }
        ByteBuffer data = ByteBuffer.wrap(privateData);
        if (data.capacity() >= 40) {
            data.putLong(8, region.address()).putInt(16, region.rkey()).putLong(24,
                    region.address() + 64).putInt(32, region.rkey());
        }
        id.connect(new ConnectionParameters().privateData(privateData));
    }

    /** Sends a message of rsockets that carries nothing but its word. */
    void say(int word) throws RdmaException {
        if (transport == Transport.IWARP) {
            ByteBuffer inline = ByteBuffer.allocateDirect(WORD).order(ByteOrder.LITTLE_ENDIAN);
            inline.putInt(0, word);
            id.queuePair().postSend(new SendWorkRequest().send()
                    .inline(MemorySegment.ofBuffer(inline)));
        } else {
            id.queuePair().postSend(new SendWorkRequest().writeWithImmediate(0, 0, word));
        }
    }

    /** {@return how many packets its queue pair has received} */
    long received() {
        return id.queuePair().counters().getOrDefault("rcvd_pkts", 0L);
    }

    @Override
    public void close() throws RdmaException {
        id.closeQueuePair();
        id.close();
        region.close();
    }
}
