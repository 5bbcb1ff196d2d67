// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools;

import io.rdma4j.cm.CmId;
import io.rdma4j.connection.ConnectionParameters;
import io.rdma4j.connection.PortSpace;
import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.QueuePairCapabilities;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.QueuePairState;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.ReceiveWorkRequest;
import io.rdma4j.verbs.SendFlag;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.WorkCompletion;
import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Random;

/**
 * A receiver of large messages, each of one number over and over, and a sender that breaks its connections off in the middle and
 * at once uses the memory for something else. The receiver tells how many messages were whole, and ends if one was not.
 */
final class Lending {
    private static final Duration PATIENCE = Duration.ofSeconds(20);
    /** What a sender says after each connection, and of one that lasts after so many messages. */
    static final String BROKEN_OFF = "breaks off";
    static final String GOES_ON = "goes on";
    private static final int REPORT = 100;
    private static final int SLOTS = 8;
    private static final int MESSAGE = 256 << 10;

    private Lending() {}

    /** Arguments: the address; and of a sender the port, and how it breaks off: {@code error}, {@code close}, {@code never}. */
    public static void main(String[] arguments) throws Exception {
        InetAddress address = InetAddress.getByName(arguments[0]);
        if (arguments.length == 1) {
            receive(address);
        } else {
            send(new InetSocketAddress(address, Integer.parseInt(arguments[1])), arguments[2]);
        }
        System.exit(0);
    }

    private static QueuePair newQueuePair(CmId id) throws RdmaException {
        return id.createQueuePair(new QueuePairInitAttributes()
                .capabilities(QueuePairCapabilities.ofDepth(SLOTS, SLOTS)));
    }

    private static MemoryRegion newRegion(CmId id) throws RdmaException {
        return id.protectionDomain().allocateRegion((long) SLOTS * MESSAGE, AccessFlag.LOCAL_WRITE);
    }

    // ---------------------------------------------------------------- receiving

    private static void receive(InetAddress address) throws Exception {
        long whole = 0;
        try (CmId listener = CmId.create(PortSpace.TCP)) {
            listener.bindAddress(new InetSocketAddress(address, 0));
            listener.listen(8);
            System.out.println("listening on port " + listener.localPort());
            while (true) {
                CmId id = listener.awaitRequest();
                whole += receive(id);
                System.out.println("whole " + whole);
            }
        }
    }

    /** {@return how many messages of a connection were whole} */
    private static long receive(CmId id) throws Exception {
        long whole = 0;
        try (id) {
            QueuePair queuePair = newQueuePair(id);
            try (MemoryRegion region = newRegion(id)) {
                for (int slot = 0; slot < SLOTS; slot++) {
                    post(queuePair, region, slot);
                }
                id.accept(new ConnectionParameters().rnrRetryCount(7).retryCount(7));
                WorkCompletion received = next(id);
                for (; received != null && received.isSuccess(); received = next(id)) {
                    int slot = (int) received.id();
                    MemorySegment message = region.segment().asSlice((long) slot * MESSAGE,
                            MESSAGE);
                    if (message.mismatch(message.asSlice(Long.BYTES)) != MESSAGE - Long.BYTES) {
                        System.out.println("torn: a message of which a part is something else");
                        System.exit(1);
                    }
                    whole++;
                    post(queuePair, region, slot);
                }
                id.closeQueuePair();
            }
        }
        return whole;
    }

    /** {@return the next message, null if the connection is over} */
    private static @Nullable WorkCompletion next(CmId id) {
        try {
            return id.pollReceiveCompletion(PATIENCE);
        } catch (RdmaException over) {
            return null;
        }
    }

    private static void post(QueuePair queuePair, MemoryRegion region, int slot)
            throws RdmaException {
        queuePair.postReceive(new ReceiveWorkRequest().id(slot).add(region,
                (long) slot * MESSAGE, MESSAGE));
    }

    // ---------------------------------------------------------------- sending

    private static void send(InetSocketAddress to, String end) throws Exception {
        Random random = new Random(1);
        long number = 0;
        int rounds = 0;
        System.out.println("begins");
        while (System.in.available() == 0) {
            try (CmId id = CmId.create(PortSpace.TCP)) {
                id.resolveAddress(to, PATIENCE);
                id.resolveRoute(PATIENCE);
                QueuePair queuePair = newQueuePair(id);
                MemoryRegion region = newRegion(id);
                id.connect(new ConnectionParameters().rnrRetryCount(7).retryCount(7));
                int messages = end.equals("never") ? Integer.MAX_VALUE : random.nextInt(40);
                number = send(id, queuePair, region, messages, number);
                if (end.equals("close")) {
                    region.close();
                    region = newRegion(id);
                    region.segment().fill((byte) -1);
                    drain(id);
                } else {
                    queuePair.modify(new QueuePairAttributes().state(QueuePairState.ERR));
                    drain(id);
                    region.segment().fill((byte) -1);
                }
                id.disconnect();
                id.closeQueuePair();
                region.close();
            }
            rounds++;
            System.out.println(BROKEN_OFF);
        }
        System.out.printf("sent %d in %d rounds%n", number, rounds);
    }

    /** Sends messages and leaves the last ones under way. {@return the number of the last} */
    private static long send(CmId id, QueuePair queuePair, MemoryRegion region, int messages,
            long first) throws IOException {
        long number = first;
        for (int i = 0; i - SLOTS < messages && System.in.available() == 0; i++) {
            int slot = i % SLOTS;
            if (i >= SLOTS) {
                WorkCompletion sent = id.pollSendCompletion(PATIENCE);
                if (sent == null || !sent.isSuccess()) {
                    throw new IOException("not sent: " + sent);
                }
            }
            number++;
            if (i % REPORT == REPORT - 1) {
                System.out.println(GOES_ON);
            }
            MemorySegment message = region.segment().asSlice((long) slot * MESSAGE, MESSAGE);
            for (int at = 0; at < MESSAGE; at += Long.BYTES) {
                message.set(ValueLayout.JAVA_LONG, at, number);
            }
            queuePair.postSend(new SendWorkRequest().id(slot).set(SendFlag.SIGNALED).send()
                    .add(region, (long) slot * MESSAGE, MESSAGE));
        }
        return number;
    }

    /** Takes the completions that are left, of requests that were carried out and of those that were not. */
    private static void drain(CmId id) throws IOException {
        try {
            while (id.pollSendCompletion(Duration.ofSeconds(1)) != null) {
                // The next.
            }
        } catch (RdmaException noneIsLeft) {
            // As is wanted.
        }
    }
}
