// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools;

import io.rdma4j.cm.CmId;
import io.rdma4j.connection.ConnectionParameters;
import io.rdma4j.connection.PortSpace;
import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.QueuePairCapabilities;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.RdmaException;

import java.lang.foreign.Arena;
import java.net.InetAddress;
import java.net.InetSocketAddress;

/** A process that accepts every connection over iWARP and sends it messages at once, whether they are read or not. */
final class PushingServer {
    /** More than the system's buffers of a connection hold. */
    static final int MESSAGES = 16;
    static final int MESSAGE = 1 << 20;
    /** Requests beyond that would be rejected. */
    private static final int BACKLOG = 1024;

    private PushingServer() {}

    /** Argument: the address. */
    public static void main(String[] arguments) throws Exception {
        try (Arena arena = Arena.ofShared(); CmId listener = CmId.create(PortSpace.TCP)) {
            listener.device("iwarp");
            listener.bindAddress(new InetSocketAddress(InetAddress.getByName(arguments[0]), 0));
            listener.listen(BACKLOG);
            System.out.println("listening on port " + listener.localPort());
            MemoryRegion region = null;
            while (true) {
                CmId id = listener.awaitRequest();
                id.createQueuePair(new QueuePairInitAttributes()
                        .capabilities(QueuePairCapabilities.ofDepth(MESSAGES, 1)));
                if (region == null) {
                    region = id.protectionDomain().register(arena.allocate(MESSAGE),
                            AccessFlag.LOCAL_WRITE);
                }
                push(id, region);
            }
        }
    }

    private static void push(CmId id, MemoryRegion region) {
        try {
            id.accept(new ConnectionParameters());
            for (int i = 0; i < MESSAGES; i++) {
                id.postSend(i, region, 0, MESSAGE);
            }
        } catch (RdmaException gone) {
            System.out.println("gone: " + gone.getMessage());
        }
    }
}
