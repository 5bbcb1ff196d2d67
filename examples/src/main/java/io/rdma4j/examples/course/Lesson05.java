// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.examples.course;

import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.ReceiveWorkRequest;
import io.rdma4j.verbs.SendFlag;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.WorkCompletion;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.time.Duration;

/** WRITE, READ and WRITE_WITH_IMM: operations in which only one side takes part. */
public final class Lesson05 {
    private Lesson05() {}

    /** Takes the address to use; 127.0.0.1 without one. */
    public static void main(String... words) throws Exception {
        InetAddress address = InetAddress.getByName(words.length > 0 ? words[0] : "127.0.0.1");
        try (Arena arena = Arena.ofShared(); Pair pair = Pair.connect(address)) {
            MemorySegment table = arena.allocate(64);
            MemorySegment copy = arena.allocate(64);
            try (MemoryRegion remote = pair.server.protectionDomain().register(table,
                    AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_READ, AccessFlag.REMOTE_WRITE); // 1
                    MemoryRegion local = pair.client.registerMessages(copy)) {
                long where = remote.address(); // 2
                int rkey = remote.rkey();

                copy.setString(0, "written");
                pair.client.postWrite(1, local, 0, 8, where, rkey, SendFlag.SIGNALED); // 3
                System.out.println("client: " + pair.client.awaitSendCompletion());
                System.out.println("server: " + table.getString(0) + ", completion: "
                        + pair.server.pollReceiveCompletion(Duration.ofMillis(10))); // 4

                table.setString(32, "from the server");
                pair.client.postRead(2, local, 16, 16, where + 32, rkey, SendFlag.SIGNALED); // 5
                System.out.println("client: " + pair.client.awaitSendCompletion() + ", read "
                        + copy.getString(16));

                QueuePair server = pair.server.queuePair();
                server.postReceive(new ReceiveWorkRequest().id(3)); // 6
                copy.setString(0, "and told");
                pair.client.queuePair().postSend(new SendWorkRequest().id(4)
                        .writeWithImmediate(where, rkey, 0xcafe).add(local, 0, 9)
                        .set(SendFlag.SIGNALED)); // 7
                System.out.println("client: " + pair.client.awaitSendCompletion());
                WorkCompletion told = pair.server.awaitReceiveCompletion();
                System.out.printf("server: %s, immediate 0x%x, %s%n", told.opcode(),
                        told.immediate(), table.getString(0));

                pair.client.postRead(5, local, 0, 8, where + 60, rkey, SendFlag.SIGNALED); // 8
                WorkCompletion failed = pair.client.awaitSendCompletion();
                System.out.println("beyond the end: " + failed.status() + ": "
                        + failed.status().meaning());
            }
        }
    }
}
