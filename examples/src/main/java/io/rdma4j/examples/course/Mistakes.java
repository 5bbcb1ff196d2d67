// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.examples.course;

import io.rdma4j.cm.CmId;
import io.rdma4j.connection.ConnectionParameters;
import io.rdma4j.connection.PortSpace;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.RdmaDevices;
import io.rdma4j.verbs.SendFlag;
import io.rdma4j.verbs.SendWorkRequest;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;

/** What beginners do wrong, and what they are told. */
public final class Mistakes {
    private Mistakes() {}

    private interface Mistake {
        void make() throws Exception;
    }

    private interface PairMistake {
        void make(CmId client, MemoryRegion local, MemoryRegion remote) throws Exception;
    }

    /** Takes an address of the loopback interface; 127.0.0.1 without one. */
    public static void main(String... words) throws Exception {
        InetAddress address = InetAddress.getByName(words.length > 0 ? words[0] : "127.0.0.1");
        make("find a device that is not there", () -> RdmaDevices.find("mlx5_0"));
        try (CmId listener = CmId.create(PortSpace.TCP); CmId id = CmId.create(PortSpace.TCP)) {
            listener.bindAddress(new InetSocketAddress(address, 0));
            listener.listen(1);
            make("connect at once", id::connect);
            make("create the queue pair at once", id::createQueuePair);
            id.resolveAddress(new InetSocketAddress(address, 1), Pair.TIMEOUT);
            make("connect without a route", id::connect);
            id.resolveRoute(Pair.TIMEOUT);
            make("connect without a queue pair", id::connect);
            id.createQueuePair();
            make("ask for 8 retries", () -> new ConnectionParameters().retryCount(8));
            make("connect where nobody listens", id::connect);
            make("register an array", () -> id.registerMessages(MemorySegment.ofArray(new int[1])));
            make("register no bytes", () -> id.registerMessages(MemorySegment.NULL));
            try (Arena arena = Arena.ofConfined()) {
                make("register memory of one thread",
                        () -> id.registerMessages(arena.allocate(8)));
            }
        }
        make(address, "await a send that was not posted",
                (client, local, remote) -> client.awaitSendCompletion());
        make(address, "await a send that is not signaled", (client, local, remote) -> {
            client.postSend(1, local, 0, 8);
            client.awaitSendCompletion();
        });
        make(address, "send 65 bytes without a region",
                (client, local, remote) -> client.postSend(1, MemorySegment.ofArray(new byte[65])));
        make(address, "send beyond the end of the region", (client, local, remote) -> {
            client.postSend(1, local, 60, 8, SendFlag.SIGNALED);
            client.awaitSendCompletion().requireSuccess("send");
        });
        make(address, "use a key of a closed region", (client, local, remote) -> {
            SendWorkRequest send = new SendWorkRequest().send().add(local, 0, 8);
            local.close();
            client.queuePair().postSend(send.set(SendFlag.SIGNALED));
            client.awaitSendCompletion().requireSuccess("send");
        });
        make(address, "write with a key that was guessed", (client, local, remote) -> {
            client.postWrite(1, local, 0, 8, remote.address(), 0x1234, SendFlag.SIGNALED);
            client.awaitSendCompletion().requireSuccess("write");
        });
        make(address, "send after disconnecting", (client, local, remote) -> {
            client.disconnect();
            client.postSend(1, local, 0, 8, SendFlag.SIGNALED);
            client.awaitSendCompletion().requireSuccess("send");
        });
    }

    private static void make(InetAddress address, String what, PairMistake mistake)
            throws Exception {
        try (Arena arena = Arena.ofShared();
                Pair pair = Pair.connect(address);
                MemoryRegion local = pair.client.registerMessages(arena.allocate(64));
                MemoryRegion remote = pair.server.registerWrite(arena.allocate(64))) {
            make(what, () -> mistake.make(pair.client, local, remote));
        }
    }

    private static void make(String what, Mistake mistake) {
        try {
            mistake.make();
            System.out.println(what + ": no exception");
        } catch (Exception e) {
            System.out.println(what + "\n    " + e.getMessage());
        }
    }
}
