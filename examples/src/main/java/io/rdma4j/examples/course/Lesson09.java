// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.examples.course;

import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.MemoryWindow;
import io.rdma4j.verbs.MemoryWindowBind;
import io.rdma4j.verbs.MemoryWindowType;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.SendFlag;
import io.rdma4j.verbs.SendWorkRequest;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.util.Set;

/** Atomics, fence, inline data and memory windows. Lesson 9 goes on with {@link SharedReceives}. */
public final class Lesson09 {
    private Lesson09() {}

    /** Takes the address to use; 127.0.0.1 without one. */
    public static void main(String... words) throws Exception {
        InetAddress address = InetAddress.getByName(words.length > 0 ? words[0] : "127.0.0.1");
        try (Arena arena = Arena.ofShared(); Pair pair = Pair.connect(address)) {
            MemorySegment table = arena.allocate(64, 8);
            MemorySegment result = arena.allocate(64, 8);
            try (MemoryRegion remote = pair.server.protectionDomain().register(table,
                    AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_READ, AccessFlag.REMOTE_ATOMIC,
                    AccessFlag.MW_BIND); // 1
                    MemoryRegion local = pair.client.registerMessages(result)) {
                atomics(pair, remote, local);
                fence(pair, remote, local);
                inline(pair, local);
                window(pair, remote, local);
            }
        }
        SharedReceives.main(words);
    }

    private static void atomics(Pair pair, MemoryRegion remote, MemoryRegion local)
            throws RdmaException {
        pair.client.queuePair().postSend(new SendWorkRequest().add(local, 0, 8)
                .fetchAndAdd(remote.address(), remote.rkey(), 5).set(SendFlag.SIGNALED)); // 2
        pair.client.awaitSendCompletion().requireSuccess("add");
        pair.client.queuePair().postSend(new SendWorkRequest().add(local, 8, 8)
                .compareAndSwap(remote.address(), remote.rkey(), 5, 9).set(SendFlag.SIGNALED)); // 3
        pair.client.awaitSendCompletion().requireSuccess("compare and swap");
        System.out.println("fetched " + local.segment().get(ValueLayout.JAVA_LONG, 0) + " and "
                + local.segment().get(ValueLayout.JAVA_LONG, 8) + ", now "
                + remote.segment().get(ValueLayout.JAVA_LONG, 0));
    }

    private static void fence(Pair pair, MemoryRegion remote, MemoryRegion local)
            throws RdmaException {
        pair.server.postReceive(1, remote, 32, 8);
        pair.client.postRead(2, local, 16, 8, remote.address(), remote.rkey());
        pair.client.postSend(3, local, 16, 8, SendFlag.FENCE, SendFlag.SIGNALED); // 4
        pair.server.awaitReceiveCompletion().requireSuccess("receive");
        System.out.println("READ and sent back: "
                + remote.segment().get(ValueLayout.JAVA_LONG, 32));
        pair.client.awaitSendCompletion().requireSuccess("send");
    }

    private static void inline(Pair pair, MemoryRegion local) throws RdmaException {
        pair.client.postReceive(4, local, 32, 16);
        byte[] text = "from the heap".getBytes(StandardCharsets.UTF_8);
        pair.server.postSend(5, MemorySegment.ofArray(text), SendFlag.SIGNALED); // 5
        text[0] = 'F';
        pair.client.awaitReceiveCompletion().requireSuccess("receive");
        System.out.println("inline: " + local.segment().getString(32));
        pair.server.awaitSendCompletion().requireSuccess("send");
    }

    private static void window(Pair pair, MemoryRegion remote, MemoryRegion local)
            throws RdmaException {
        try (MemoryWindow window = pair.server.protectionDomain()
                .allocateMemoryWindow(MemoryWindowType.TYPE_2)) { // 6
            pair.server.queuePair().postSend(new SendWorkRequest().bind(window,
                    MemoryWindow.nextRkey(window.rkey()), new MemoryWindowBind(remote,
                            remote.address() + 48, 8, Set.of(AccessFlag.REMOTE_WRITE)))
                    .set(SendFlag.SIGNALED)); // 7
            pair.server.awaitSendCompletion().requireSuccess("bind");
            for (int i = 0; i < 2; i++) {
                pair.client.postWrite(6, local, 0, 8, remote.address() + 48, window.rkey(),
                        SendFlag.SIGNALED); // 8
                System.out.println("WRITE by the window: "
                        + pair.client.awaitSendCompletion().status());
                pair.server.queuePair().postSend(new SendWorkRequest()
                        .localInvalidate(window.rkey()).set(SendFlag.SIGNALED)); // 9
                pair.server.awaitSendCompletion();
            }
        }
    }
}
