// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.examples.course;

import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.SendFlag;
import io.rdma4j.verbs.WorkCompletion;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.time.Duration;

/** SEND and RECEIVE, and who owns a buffer when. */
public final class Lesson04 {
    private static final long PLACE = 32;

    private Lesson04() {}

    /** Takes the address to use; 127.0.0.1 without one. */
    public static void main(String... words) throws Exception {
        InetAddress address = InetAddress.getByName(words.length > 0 ? words[0] : "127.0.0.1");
        try (Arena arena = Arena.ofShared(); Pair pair = Pair.connect(address)) {
            MemorySegment places = arena.allocate(3 * PLACE);
            MemorySegment message = arena.allocate(PLACE);
            try (MemoryRegion received = pair.server.registerMessages(places);
                    MemoryRegion sent = pair.client.registerMessages(message)) {
                // From here the three places belong to the device of the server.
                for (int i = 0; i < 3; i++) {
                    pair.server.postReceive(i, received, i * PLACE, PLACE); // 1
                }
                for (String text : new String[]{"one", "two", "three"}) {
                    message.setString(0, text); // 2
                    pair.client.postSend(7, sent, 0, text.length() + 1, SendFlag.SIGNALED); // 3
                    // The message belongs to the device of the client ...
                    pair.client.awaitSendCompletion().requireSuccess("send"); // 4
                    // ... and is ours again: the next text may go there.
                }
                for (int i = 0; i < 3; i++) {
                    WorkCompletion completion = pair.server.awaitReceiveCompletion(); // 5
                    int place = (int) completion.id();
                    System.out.println("place " + place + ": " + completion.byteLength()
                            + " bytes, " + places.getString(place * PLACE)); // 6
                }

                message.setString(0, "early"); // 7
                pair.client.postSend(8, sent, 0, 6, SendFlag.SIGNALED);
                System.out.println("without a receive: "
                        + pair.client.pollSendCompletion(Duration.ofMillis(50)));
                pair.server.postReceive(0, received, 0, PLACE);
                System.out.println("with one: " + pair.client.awaitSendCompletion().status()
                        + ", " + pair.server.awaitReceiveCompletion().byteLength() + " bytes");

                pair.server.postReceive(1, received, 0, 4); // 8
                pair.client.postSend(9, sent, 0, 6, SendFlag.SIGNALED);
                System.out.println("place too small: client "
                        + pair.client.awaitSendCompletion().status() + ", server "
                        + pair.server.awaitReceiveCompletion().status());
                System.out.println("afterwards: client " + pair.client.queuePair().state());
            }
        }
    }
}
