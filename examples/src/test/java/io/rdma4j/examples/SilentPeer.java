// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.examples;

import io.rdma4j.cm.CmId;
import io.rdma4j.connection.ConnectionParameters;
import io.rdma4j.connection.PortSpace;
import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.RdmaException;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;

/**
 * A process that connects, takes some messages, prints {@code silent}, and then does nothing until it is killed. It ends with
 * the process that started it, too.
 *
 * <p>{@code server ADDRESS MESSAGES} or {@code client ADDRESS PORT MESSAGES}.
 */
final class SilentPeer {
    private static final int MESSAGE = 4096;
    private static final int RECEIVES = 4;
    private static final Duration TIMEOUT = Duration.ofSeconds(2);

    private SilentPeer() {}

    public static void main(String[] words) throws IOException, InterruptedException {
        Thread.ofPlatform().daemon().start(SilentPeer::endWithParent);
        InetAddress address = InetAddress.getByName(words[1]);
        int messages = Integer.parseInt(words[words.length - 1]);
        if (words[0].equals("server")) {
            serve(address, messages);
        } else {
            connect(new InetSocketAddress(address, Integer.parseInt(words[2])), messages);
        }
    }

    /** Nothing comes from its standard input but the end, and that when nobody is left who could write. */
    private static void endWithParent() {
        try {
            System.in.read();
        } catch (IOException _) {
            // As the end.
        }
        Runtime.getRuntime().halt(1);
    }

    private static void serve(InetAddress address, int messages)
            throws IOException, InterruptedException {
        try (CmId listener = CmId.create(PortSpace.TCP)) {
            listener.bindAddress(new InetSocketAddress(address, 0));
            listener.listen(1);
            System.out.println("listening on port " + listener.localPort());
            CmId id = listener.awaitRequest();
            MemoryRegion region = prepare(id);
            byte[] where = ByteBuffer.allocate(12).putLong(region.address()).putInt(region.rkey())
                    .array();
            id.accept(new ConnectionParameters().privateData(where));
            fallSilent(id, messages);
        }
    }

    private static void connect(InetSocketAddress server, int messages)
            throws IOException, InterruptedException {
        try (CmId id = CmId.create(PortSpace.TCP)) {
            id.resolveAddress(server, TIMEOUT);
            id.resolveRoute(TIMEOUT);
            prepare(id);
            id.connect(new ConnectionParameters());
            fallSilent(id, messages);
        }
    }

    private static MemoryRegion prepare(CmId id) throws RdmaException {
        id.createQueuePair();
        MemoryRegion region = id.protectionDomain().register(
                Arena.global().allocate((long) RECEIVES * MESSAGE), AccessFlag.LOCAL_WRITE,
                AccessFlag.REMOTE_WRITE);
        for (int i = 0; i < RECEIVES; i++) {
            id.postReceive(i, region, (long) i * MESSAGE, MESSAGE);
        }
        return region;
    }

    private static void fallSilent(CmId id, int messages)
            throws IOException, InterruptedException {
        for (int i = 0; i < messages; i++) {
            id.awaitReceiveCompletion();
        }
        System.out.println("silent");
        Thread.currentThread().join();
    }
}
