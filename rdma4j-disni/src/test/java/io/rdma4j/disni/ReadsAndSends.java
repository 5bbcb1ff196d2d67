// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.disni;

import com.ibm.disni.verbs.IbvMr;
import com.ibm.disni.verbs.IbvRecvWR;
import com.ibm.disni.verbs.IbvSendWR;
import com.ibm.disni.verbs.IbvWC;
import com.ibm.disni.verbs.SVCPollCq;
import com.ibm.disni.verbs.SVCPostRecv;
import com.ibm.disni.verbs.SVCPostSend;
import io.rdma4j.cm.CmId;
import io.rdma4j.connection.PortSpace;
import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.ReceiveWorkRequest;
import io.rdma4j.verbs.SendFlag;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.WorkCompletion;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/** READs, and SENDs with their receives, of one size, one at a time, by one thread between two ends of this process. */
abstract class ReadsAndSends {
    private static final Duration TIMEOUT = Duration.ofSeconds(20);

    /** Reads once, and waits until it is done. */
    abstract void read() throws IOException;

    /** Sends once, and waits until both ends are done. */
    abstract void send() throws IOException;

    static void require(boolean isSuccess) {
        if (!isSuccess) {
            throw new IllegalStateException("a request failed");
        }
    }

    /** Through DiSNI, whose calls are made once and executed again and again. */
    static final class ThroughDisni extends ReadsAndSends {
        private final IbvMr local;
        private final IbvMr remote;
        private final IbvWC[] ofClient = {new IbvWC()};
        private final IbvWC[] ofServer = {new IbvWC()};
        private final SVCPostSend read;
        private final SVCPostSend send;
        private final SVCPostRecv receive;
        private final SVCPollCq pollClient;
        private final SVCPollCq pollServer;

        ThroughDisni(Connection connection, int size) throws IOException {
            End client = connection.client;
            End server = connection.server;
            local = client.register(ByteBuffer.allocateDirect(size));
            remote = server.register(ByteBuffer.allocateDirect(size));
            read = client.queuePair.postSend(List.of(End.to(
                    End.request(1, IbvSendWR.IBV_WR_RDMA_READ, End.element(local, 0, size)),
                    remote, 0)), null);
            send = client.queuePair.postSend(List.of(
                    End.request(2, IbvSendWR.IBV_WR_SEND, End.element(local, 0, size))), null);
            IbvRecvWR request = new IbvRecvWR();
            request.setSg_list(End.list(End.element(remote, 0, size)));
            request.setNum_sge(1);
            receive = server.queuePair.postRecv(List.of(request), null);
            pollClient = client.queue.poll(ofClient, 1);
            pollServer = server.queue.poll(ofServer, 1);
        }

        void close() throws IOException {
            local.deregMr().execute().free();
            remote.deregMr().execute().free();
        }

        @Override
        void read() throws IOException {
            read.execute();
            await(pollClient, ofClient);
        }

        @Override
        void send() throws IOException {
            receive.execute();
            send.execute();
            await(pollServer, ofServer);
            await(pollClient, ofClient);
        }

        private static void await(SVCPollCq poll, IbvWC[] completions) throws IOException {
            while (poll.execute().getPolls() == 0) {
                Thread.onSpinWait();
            }
            require(completions[0].getStatus() == 0);
        }
    }

    /** The same by the API alone. */
    static final class ThroughTheApi extends ReadsAndSends {
        private final CmId client;
        private final CmId server;
        private final SendWorkRequest read;
        private final SendWorkRequest send;
        private final ReceiveWorkRequest receive;
        private final WorkCompletion completion = new WorkCompletion();

        ThroughTheApi(int size) throws Exception {
            CmId listener = CmId.create(PortSpace.TCP);
            listener.bindAddress(new InetSocketAddress(Loopback.OWN, Loopback.PORT + 1));
            listener.listen(1);
            CompletableFuture<CmId> accepted = CompletableFuture.supplyAsync(() -> {
                try {
                    CmId id = listener.awaitRequest();
                    id.createQueuePair();
                    id.accept();
                    return id;
                } catch (IOException e) {
                    throw new IllegalStateException(e);
                }
            });
            client = CmId.create(PortSpace.TCP);
            client.resolveAddress(new InetSocketAddress(Loopback.OWN, Loopback.PORT + 1),
                    TIMEOUT);
            client.resolveRoute(TIMEOUT);
            client.createQueuePair();
            client.connect();
            server = accepted.get();
            listener.close();
            MemoryRegion local = client.protectionDomain().allocateRegion(size,
                    AccessFlag.LOCAL_WRITE);
            MemoryRegion remote = server.protectionDomain().allocateRegion(size,
                    AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_READ);
            read = new SendWorkRequest().read(remote.address(), remote.rkey()).add(local, 0, size)
                    .set(SendFlag.SIGNALED);
            send = new SendWorkRequest().send().add(local, 0, size).set(SendFlag.SIGNALED);
            receive = new ReceiveWorkRequest().add(remote, 0, size);
        }

        @Override
        void read() throws IOException {
            client.queuePair().postSend(read);
            await(client.queuePair().sendCompletionQueue());
        }

        @Override
        void send() throws IOException {
            server.queuePair().postReceive(receive);
            client.queuePair().postSend(send);
            await(server.queuePair().receiveCompletionQueue());
            await(client.queuePair().sendCompletionQueue());
        }

        private void await(CompletionQueue queue) throws IOException {
            while (!queue.poll(completion)) {
                Thread.onSpinWait();
            }
            require(completion.isSuccess());
        }
    }
}
