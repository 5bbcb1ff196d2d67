// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools;

import io.rdma4j.cm.CmId;
import io.rdma4j.connection.ConnectionParameters;
import io.rdma4j.connection.PortSpace;
import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.QueuePairCapabilities;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.SendFlag;
import io.rdma4j.verbs.WorkCompletion;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/**
 * A server whose memory two connections may write to, or a client with both: when it gets a line, the first writes more than
 * a ring takes, then the second writes a little, and it tells how each has ended.
 */
final class TwoWriters {
    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final int CONNECTIONS = 2;
    private static final int LENGTH = 64 << 10;
    private static final int COUNT = 60;

    private TwoWriters() {}

    /** Arguments: the address; and the server's port, of a client. */
    public static void main(String[] arguments) throws Exception {
        InetAddress address = InetAddress.getByName(arguments[0]);
        try (Arena arena = Arena.ofShared()) {
            if (arguments.length == 1) {
                serve(address, arena);
            } else {
                write(new InetSocketAddress(address, Integer.parseInt(arguments[1])), arena);
            }
        }
        System.exit(0);
    }

    private static MemoryRegion region(CmId id, Arena arena) throws IOException {
        id.createQueuePair(new QueuePairInitAttributes()
                .capabilities(QueuePairCapabilities.ofDepth(COUNT, 1)));
        return id.protectionDomain().register(arena.allocate(LENGTH, 64), AccessFlag.LOCAL_WRITE,
                AccessFlag.REMOTE_WRITE);
    }

    private static void serve(InetAddress address, Arena arena) throws IOException {
        CmId listener = CmId.create(PortSpace.TCP);
        listener.bindAddress(new InetSocketAddress(address, 0));
        listener.listen(CONNECTIONS);
        System.out.println("listening on port " + listener.localPort());
        for (int i = 0; i < CONNECTIONS; i++) {
            CmId accepted = listener.awaitRequest();
            MemoryRegion region = region(accepted, arena);
            accepted.accept(new ConnectionParameters().privateData(ByteBuffer.allocate(12)
                    .putLong(region.address()).putInt(region.rkey()).array()));
        }
        // Until it is ended.
        while (System.in.read() >= 0) {
            // Nothing is said to it.
        }
    }

    private static void write(InetSocketAddress server, Arena arena) throws IOException {
        List<CmId> ids = new ArrayList<>();
        List<MemoryRegion> regions = new ArrayList<>();
        for (int i = 0; i < CONNECTIONS; i++) {
            CmId id = CmId.create(PortSpace.TCP);
            id.resolveAddress(server, PATIENCE);
            id.resolveRoute(PATIENCE);
            regions.add(region(id, arena));
            id.connect(new ConnectionParameters().retryCount(7));
            ids.add(id);
        }
        System.out.println("connected");
        if (System.in.read() < 0) {
            return;
        }
        for (int i = 0; i < COUNT; i++) {
            post(ids.get(0), regions.get(0), LENGTH);
        }
        post(ids.get(1), regions.get(1), Long.BYTES);
        System.out.println("second " + outcome(ids.get(1)));
        System.out.println("first " + outcome(ids.get(0)));
    }

    private static void post(CmId id, MemoryRegion region, int length) throws IOException {
        ByteBuffer peer = ByteBuffer.wrap(Objects.requireNonNull(id.event()).privateData());
        id.postWrite(0, region, 0, length, peer.getLong(), peer.getInt(), SendFlag.SIGNALED);
    }

    private static String outcome(CmId id) throws IOException {
        WorkCompletion completion = id.pollSendCompletion(PATIENCE);
        while (completion != null && completion.isSuccess()) {
            completion = id.pollSendCompletion(PATIENCE);
        }
        return completion == null ? "does not end" : completion.status().name();
    }
}
