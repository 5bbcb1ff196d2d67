// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic;

import io.rdma4j.cm.CmEvent;
import io.rdma4j.cm.CmEventType;
import io.rdma4j.cm.CmId;
import io.rdma4j.connection.ConnectionParameters;
import io.rdma4j.connection.PortSpace;
import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairState;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.SendFlag;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.WorkCompletion;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import java.lang.foreign.Arena;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicReference;

import static org.assertj.core.api.Assertions.assertThat;

/** Programs that post until the queue is full, or as often as they have taken completions, on the queues that an id makes. */
abstract class UntakenCompletionsTest extends CmStage {
    private static final int DEPTH = 16;
    private static final int ROUNDS = 2_000;

    private final Arena arena = Arena.ofAuto();
    private QueuePair queuePair;
    private CompletionQueue completions;
    private MemoryRegion source;
    private MemoryRegion target;
    private SendWorkRequest write;
    private int posted;
    private int taken;

    /** Within a device. */
    @ExtendWith(ChosenLoopback.Direct.class)
    static class DirectTest extends UntakenCompletionsTest {}

    /** Through memory that processes share. */
    @ExtendWith(ChosenLoopback.Shared.class)
    static class SharedTest extends UntakenCompletionsTest {}

    /** Through the system. */
    @ExtendWith(ChosenLoopback.Network.class)
    static class NetworkTest extends UntakenCompletionsTest {}

    @BeforeEach
    void connect() throws Exception {
        CmId listener = listener(PortSpace.TCP, OWN);
        CmId client = id(PortSpace.TCP);
        resolve(client, listener.localAddress());
        client.createQueuePair();
        client.connect(new ConnectionParameters());
        CmId server = request();
        server.createQueuePair();
        target = server.protectionDomain().register(arena.allocate(8),
                AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE);
        server.accept(new ConnectionParameters());
        for (int i = 0; i < 2; i++) {
            try (CmEvent established = expect(CmEventType.ESTABLISHED)) {
                assertThat(established.id()).isIn(client, server);
            }
        }
        source = client.registerMessages(arena.allocate(8));
        queuePair = client.queuePair();
        completions = queuePair.sendCompletionQueue();
        write = new SendWorkRequest().write(target.address(), target.rkey()).add(source, 0, 8)
                .set(SendFlag.SIGNALED);
    }

    @AfterEach
    void closeRegions() throws RdmaException {
        source.close();
        target.close();
    }

    @Test
    void nothingIsLostByPostingUntilTheQueueIsFull() throws Exception {
        for (int i = 0; i < ROUNDS; i++) {
            int before = posted;
            while (isPosted()) {
                assertThat(posted - taken).isLessThanOrEqualTo(DEPTH);
            }
            assertThat(posted).isGreaterThan(before);
            takeOne();
        }
        while (taken < posted) {
            takeOne();
        }
        assertThat(queuePair.state()).isEqualTo(QueuePairState.RTS);
    }

    @Test
    void whoeverPostsOneForEachThatWasTakenIsNeverRefused() throws Exception {
        for (int i = 0; i < DEPTH; i++) {
            assertThat(isPosted()).isTrue();
        }
        for (int i = 0; i < ROUNDS; i++) {
            takeOne();
            assertThat(isPosted()).as("after %s", taken).isTrue();
        }
    }

    /** Each completion that it takes is a credit for the thread that posts, while others run the device. */
    @Test
    void creditsOfAnotherThreadAreNeverRefused() throws Exception {
        Semaphore credits = new Semaphore(DEPTH);
        AtomicReference<Throwable> failure = new AtomicReference<>();
        Thread taking = Thread.ofPlatform().daemon().start(() -> {
            try {
                while (taken < ROUNDS) {
                    takeOne();
                    credits.release();
                }
            } catch (RdmaException | RuntimeException | Error e) {
                failure.set(e);
                credits.release(ROUNDS);
            }
        });
        for (int i = 0; i < ROUNDS; i++) {
            credits.acquire();
            assertThat(failure.get()).isNull();
            assertThat(isPosted()).as("after %s", i).isTrue();
        }
        taking.join();
        assertThat(failure.get()).isNull();
    }

    private boolean isPosted() throws RdmaException {
        try {
            queuePair.postSend(write.id(posted));
            posted++;
            return true;
        } catch (RdmaException full) {
            assertThat(full.errno()).isEqualTo(Errno.ENOMEM);
            assertThat(full.getMessage()).contains("take completions first");
            return false;
        }
    }

    private void takeOne() throws RdmaException {
        WorkCompletion next = new WorkCompletion();
        long endNs = System.nanoTime() + LONG.toNanos();
        while (!completions.poll(next)) {
            assertThat(System.nanoTime()).isLessThan(endNs);
        }
        assertThat(next.isSuccess()).as("%s", next).isTrue();
        assertThat(next.id()).isEqualTo(taken);
        taken++;
    }
}
