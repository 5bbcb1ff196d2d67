// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.examples.course;

import io.rdma4j.softnic.options.DeviceOptions;
import io.rdma4j.softnic.options.Impairment;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.RdmaDevices;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.SendFlag;
import io.rdma4j.verbs.WorkCompletion;

import java.lang.foreign.Arena;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;

/** Loss, a recording, and a peer that dies. Lesson 10 goes on with {@link Mistakes}. */
public final class Lesson10 {
    private static final int MESSAGES = 500;

    private Lesson10() {}

    /** Takes an address of the loopback interface; 127.0.0.1 without one. */
    public static void main(String... words) throws Exception {
        InetAddress address = InetAddress.getByName(words.length > 0 ? words[0] : "127.0.0.1");
        Path recording = Files.createTempFile("lesson10-", ".pcapng");
        DeviceOptions options = DeviceOptions.DEFAULT
                .withImpairment(Impairment.parse("loss=5%,seed=7")) // 1
                .withCapture(recording); // 2
        try (DeviceContext device = options.open(RdmaDevices.find("roce_lo"));
                Arena arena = Arena.ofShared();
                Pair pair = Pair.connect(address);
                MemoryRegion region = pair.client.registerMessages(arena.allocate(64))) {
            int wrong = exchange(pair, region);
            System.out.println(MESSAGES + " messages, " + wrong + " wrong or out of order");
            Map<String, Long> counters = device.counters(); // 4
            System.out.println("packets sent again: " + counters.get("retransmitted_pkts") + " of "
                    + counters.get("sent_pkts"));
            die(pair, region);
        }
        System.out.println("recorded: " + Files.size(recording) + " bytes");
        Files.delete(recording); // 7
        Mistakes.main(words);
    }

    private static int exchange(Pair pair, MemoryRegion region) throws RdmaException {
        int wrong = 0;
        for (int i = 0; i < MESSAGES; i++) {
            pair.server.postReceive(i, region, 32, 32);
            region.segment().setString(0, "message " + i);
            pair.client.postSend(i, region, 0, 32, SendFlag.SIGNALED);
            pair.client.awaitSendCompletion().requireSuccess("send"); // 3
            WorkCompletion received = pair.server.awaitReceiveCompletion();
            if (received.id() != i || !region.segment().getString(32).equals("message " + i)) {
                wrong++;
            }
        }
        return wrong;
    }

    private static void die(Pair pair, MemoryRegion region) throws RdmaException {
        pair.server.closeQueuePair(); // 5
        long startNs = System.nanoTime();
        pair.client.postSend(1, region, 0, 32, SendFlag.SIGNALED);
        WorkCompletion completion = pair.client.awaitSendCompletion(); // 6
        System.out.printf("nobody answers: %s after %.1f s%n", completion.status(),
                (System.nanoTime() - startNs) / 1e9);
        System.out.println(completion.status().usualCause());
    }
}
