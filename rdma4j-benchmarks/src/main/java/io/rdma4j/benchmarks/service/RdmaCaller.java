// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.benchmarks.service;

import io.rdma4j.cm.CmId;
import io.rdma4j.connection.ConnectionParameters;
import io.rdma4j.connection.PortSpace;
import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.SendFlag;
import io.rdma4j.verbs.WorkCompletion;
import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Objects;

/** A synchronous id, as the tutorials have it. */
final class RdmaCaller implements Caller {
    private static final Duration CONNECTED = Duration.ofSeconds(60);
    private static final Duration ANSWERED = Duration.ofSeconds(30);

    /** Which devices, null for those that an id takes by itself. */
    static final @Nullable String FAMILY = System.getProperty("rdma4j.device");

    private final CmId id;
    private final MemoryRegion buffer;
    private final Work work;
    private final long table;
    private final int key;
    private boolean isRead;

    RdmaCaller(InetSocketAddress server, Work work) throws RdmaException {
        this.work = work;
        id = CmId.create(PortSpace.TCP);
        if (FAMILY != null) {
            id.device(FAMILY);
        }
        id.resolveAddress(server, CONNECTED);
        id.resolveRoute(CONNECTED);
        id.createQueuePair();
        buffer = id.protectionDomain().allocateRegion(2L * work.requestBytes(),
                AccessFlag.LOCAL_WRITE);
        id.connect(new ConnectionParameters());
        ByteBuffer greeting = ByteBuffer.wrap(Objects.requireNonNull(id.event()).privateData());
        table = greeting.getLong();
        key = greeting.getInt();
    }

    @Override
    public void call() throws IOException {
        if (work == Work.KEY_VALUE && isRead) {
            id.postRead(1, buffer, 0, work.requestBytes(), table, key, SendFlag.SIGNALED);
            check(id.pollSendCompletion(ANSWERED));
        } else {
            id.postReceive(2, buffer, work.requestBytes(), work.replyBytes());
            id.postSend(3, buffer, 0, work.requestBytes(), SendFlag.SIGNALED);
            check(id.pollSendCompletion(ANSWERED));
            check(id.pollReceiveCompletion(ANSWERED));
        }
        isRead = !isRead;
    }

    private static void check(@Nullable WorkCompletion completion) throws IOException {
        if (completion == null) {
            throw new IOException("the server does not answer");
        }
        if (!completion.isSuccess()) {
            throw new IOException(completion.toString());
        }
    }

    @Override
    public void close() throws IOException {
        id.disconnect();
        id.close();
        buffer.close();
    }
}
