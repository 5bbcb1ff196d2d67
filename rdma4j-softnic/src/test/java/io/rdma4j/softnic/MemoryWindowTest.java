// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic;

import io.rdma4j.protocol.roce.wire.Opcode;
import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.MemoryRegionChanges;
import io.rdma4j.verbs.MemoryWindow;
import io.rdma4j.verbs.MemoryWindowBind;
import io.rdma4j.verbs.MemoryWindowType;
import io.rdma4j.verbs.Mtu;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.QueuePairCapabilities;
import io.rdma4j.verbs.QueuePairState;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.SendFlag;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.WorkCompletionFlag;
import org.junit.jupiter.api.Test;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** Memory windows: binding, what the peer may do, and all the ways to end that. */
class MemoryWindowTest {
    private static final int START = Pair.MEMORY / 2;
    private static final int LENGTH = 4096;

    private final Pair pair = new Pair();

    MemoryWindowTest() throws Exception {}

    private MemoryWindowBind stretch(AccessFlag... access) {
        return new MemoryWindowBind(pair.b.region, pair.b.region.address() + START, LENGTH,
                Set.of(access));
    }

    /** {@return a window of type 2 to the stretch, bound by b} */
    private MemoryWindow bound() throws RdmaException {
        MemoryWindow window = pair.b.node.domain.allocateMemoryWindow(MemoryWindowType.TYPE_2);
        pair.b.queuePair.postSend(pair.b.request(100).bind(window,
                MemoryWindow.nextRkey(window.rkey()), stretch(AccessFlag.REMOTE_WRITE)));
        pair.settle();
        pair.b.assertCompleted("100 SUCCESS");
        return window;
    }

    private void write(long id, int rkey, long offset, int length) throws RdmaException {
        pair.a.queuePair.postSend(pair.a.request(id).write(pair.b.region.address() + offset, rkey)
                .add(pair.a.region, 0, length));
        pair.settle();
    }

    @Test
    void peerWritesThroughAWindow() throws Exception {
        MemoryWindow window = bound();
        write(1, window.rkey(), START, 3000);
        pair.a.assertCompleted("1 SUCCESS");
        assertThat(pair.b.hasPeersBytes(3000)).isTrue();
    }

    @Test
    void windowEndsWhereItEnds() throws Exception {
        MemoryWindow window = bound();
        write(1, window.rkey(), START, LENGTH + 1);
        pair.a.assertCompleted("1 REMOTE_ACCESS_ERROR");
    }

    @Test
    void windowDoesNotBeginEarlier() throws Exception {
        MemoryWindow window = bound();
        write(1, window.rkey(), START - 1, 2);
        pair.a.assertCompleted("1 REMOTE_ACCESS_ERROR");
    }

    @Test
    void windowGivesOnlyTheRightsItWasBoundWith() throws Exception {
        MemoryWindow window = bound();
        pair.a.queuePair.postSend(pair.a.request(1)
                .read(pair.b.region.address() + START, window.rkey()).add(pair.a.region, START, 8));
        pair.settle();
        pair.a.assertCompleted("1 REMOTE_ACCESS_ERROR");
    }

    @Test
    void keyOfAWindowIsNotForLocalUse() throws Exception {
        MemoryWindow window = bound();
        pair.b.queuePair.postSend(pair.b.request(1).send()
                .add(pair.b.region.address() + START, 8, window.rkey()));
        pair.settle();
        pair.b.assertCompleted("1 LOCAL_PROTECTION_ERROR");
    }

    @Test
    void windowOfTypeTwoServesOnlyTheQueuePairThatBoundIt() throws Exception {
        MemoryWindow window = bound();
        Pair.Side otherA = pair.new Side(pair.simulation.a, new Pair.Settings());
        Pair.Side otherB = pair.new Side(pair.simulation.b, new Pair.Settings());
        otherA.connect(otherB, new Pair.Settings());
        otherB.connect(otherA, new Pair.Settings());
        otherA.queuePair.postSend(otherA.request(1)
                .write(pair.b.region.address() + START, window.rkey()).add(otherA.region, 0, 8));
        pair.settle();
        otherA.takeCompletions();
        otherA.assertCompleted("1 REMOTE_ACCESS_ERROR");
    }

    @Test
    void boundWindowOfTypeTwoMustBeInvalidatedBeforeItIsBoundAnew() throws Exception {
        MemoryWindow window = bound();
        pair.b.queuePair.postSend(pair.b.request(1).bind(window,
                MemoryWindow.nextRkey(window.rkey()), stretch(AccessFlag.REMOTE_WRITE)));
        pair.settle();
        pair.b.assertCompleted("1 MEMORY_WINDOW_BIND_ERROR");
    }

    @Test
    void localInvalidationEndsAccessAndAllowsANewBind() throws Exception {
        MemoryWindow window = bound();
        int old = window.rkey();
        pair.b.queuePair.postSend(pair.b.request(1).localInvalidate(old));
        pair.b.queuePair.postSend(pair.b.request(2).bind(window, MemoryWindow.nextRkey(old),
                stretch(AccessFlag.REMOTE_WRITE)));
        pair.settle();
        pair.b.assertCompleted("1 SUCCESS", "2 SUCCESS");
        write(3, window.rkey(), START, 8);
        write(4, old, START, 8);
        pair.a.assertCompleted("3 SUCCESS", "4 REMOTE_ACCESS_ERROR");
    }

    @Test
    void invalidatingTheKeyOfARegionFails() throws Exception {
        pair.b.queuePair.postSend(pair.b.request(1).localInvalidate(pair.b.region.rkey()));
        pair.settle();
        pair.b.assertCompleted("1 LOCAL_QP_OPERATION_ERROR");
    }

    @Test
    void peerInvalidatesWithAMessage() throws Exception {
        MemoryWindow window = bound();
        pair.b.receive(10, 100);
        pair.a.queuePair.postSend(
                pair.a.request(1).sendWithInvalidate(window.rkey()).add(pair.a.region, 0, 50));
        pair.settle();
        pair.a.assertCompleted("1 SUCCESS");
        assertThat(pair.b.completions).singleElement().satisfies(completion -> {
            assertThat(completion.has(WorkCompletionFlag.WITH_INVALIDATE)).isTrue();
            assertThat(completion.invalidatedRkey()).isEqualTo(window.rkey());
            assertThat(completion.byteLength()).isEqualTo(50);
        });
        write(2, window.rkey(), START, 8);
        pair.a.assertCompleted("2 REMOTE_ACCESS_ERROR");
    }

    @Test
    void peerInvalidatesOnceThoughItsMessageIsRepeated() throws Exception {
        MemoryWindow window = bound();
        AtomicInteger lost = new AtomicInteger(1);
        pair.simulation.network.loseIf(packet -> packet.opcode() == Opcode.RC_ACKNOWLEDGE
                && lost.getAndDecrement() > 0);
        pair.b.receive(10, 100);
        pair.a.queuePair.postSend(
                pair.a.request(1).sendWithInvalidate(window.rkey()).add(pair.a.region, 0, 50));
        pair.settle();
        pair.a.assertCompleted("1 SUCCESS");
        pair.b.assertCompleted("10 SUCCESS");
    }

    @Test
    void peerThatInvalidatesAWrongKeyIsRefused() throws Exception {
        pair.b.receive(10, 100);
        pair.a.queuePair.postSend(pair.a.request(1).sendWithInvalidate(pair.b.region.rkey())
                .add(pair.a.region, 0, 50));
        pair.settle();
        pair.a.assertCompleted("1 REMOTE_ACCESS_ERROR");
        pair.b.assertCompleted("10 REMOTE_INVALID_REQUEST_ERROR");
    }

    @Test
    void closingAWindowEndsAccess() throws Exception {
        MemoryWindow window = bound();
        int key = window.rkey();
        window.close();
        write(1, key, START, 8);
        pair.a.assertCompleted("1 REMOTE_ACCESS_ERROR");
    }

    @Test
    void resettingTheQueuePairEndsAccess() throws Exception {
        MemoryWindow window = bound();
        int key = window.rkey();
        write(1, key, START, 8);
        QueuePairAttributes reset = new QueuePairAttributes().state(QueuePairState.RESET);
        pair.a.queuePair.modify(reset);
        pair.b.queuePair.modify(reset);
        pair.connect(new Pair.Settings());
        MemorySegment place = pair.b.region.segment().asSlice(START, 8);
        place.fill((byte) 0);
        write(2, key, START, 8);
        pair.a.assertCompleted("1 SUCCESS", "2 REMOTE_ACCESS_ERROR");
        assertThat(place.mismatch(MemorySegment.ofArray(new byte[8]))).isEqualTo(-1);
        // Nothing is bound to the region any more.
        pair.b.region.close();
        window.close();
    }

    @Test
    void regionCannotBeClosedOrChangedWhileAWindowIsBoundToIt() throws Exception {
        MemoryWindow window = bound();
        assertThatExceptionOfType(RdmaException.class).isThrownBy(pair.b.region::close)
                .satisfies(e -> assertThat(e.errno()).isEqualTo(Errno.EBUSY))
                .withMessageContaining("1 memory window");
        assertThatExceptionOfType(RdmaException.class)
                .isThrownBy(
                        () -> pair.b.region.reregister(new MemoryRegionChanges().access(Set.of())))
                .satisfies(e -> assertThat(e.errno()).isEqualTo(Errno.EBUSY));
        window.close();
        pair.b.region.close();
    }

    @Test
    void windowOfTypeOneIsBoundReboundAndUnbound() throws Exception {
        MemoryWindow window = pair.b.node.domain.allocateMemoryWindow(MemoryWindowType.TYPE_1);
        pair.b.queuePair.bindMemoryWindow(1, window, stretch(AccessFlag.REMOTE_WRITE),
                SendFlag.SIGNALED);
        pair.settle();
        int first = window.rkey();
        write(2, first, START, 8);
        pair.b.queuePair.bindMemoryWindow(3, window, stretch(AccessFlag.REMOTE_WRITE),
                SendFlag.SIGNALED);
        pair.settle();
        assertThat(window.rkey()).isNotEqualTo(first);
        write(4, window.rkey(), START, 8);
        pair.b.queuePair.bindMemoryWindow(5, window,
                new MemoryWindowBind(pair.b.region, 0, 0, Set.of()), SendFlag.SIGNALED);
        pair.settle();
        pair.b.assertCompleted("1 SUCCESS", "3 SUCCESS", "5 SUCCESS");
        write(6, window.rkey(), START, 8);
        pair.a.assertCompleted("2 SUCCESS", "4 SUCCESS", "6 REMOTE_ACCESS_ERROR");
        pair.b.region.close();
    }

    @Test
    void bindsThatCannotBeAreRefused() throws Exception {
        MemoryWindow one = pair.b.node.domain.allocateMemoryWindow(MemoryWindowType.TYPE_1);
        MemoryWindow two = pair.b.node.domain.allocateMemoryWindow(MemoryWindowType.TYPE_2);
        MemoryWindow foreign = pair.b.node.context.allocateProtectionDomain()
                .allocateMemoryWindow(MemoryWindowType.TYPE_1);
        assertThatExceptionOfType(RdmaException.class)
                .isThrownBy(() -> pair.b.queuePair.bindMemoryWindow(1, two, stretch(),
                        SendFlag.SIGNALED))
                .withMessageContaining("type 1");
        assertThatExceptionOfType(RdmaException.class)
                .isThrownBy(() -> pair.b.queuePair
                        .postSend(new SendWorkRequest().bind(one, one.rkey(), stretch())))
                .withMessageContaining("type 1");
        assertThatExceptionOfType(RdmaException.class)
                .isThrownBy(() -> pair.b.queuePair.bindMemoryWindow(1, foreign, stretch(),
                        SendFlag.SIGNALED))
                .satisfies(e -> assertThat(e.errno()).isEqualTo(Errno.EPERM));
    }

    @Test
    void regionWithoutTheRightCannotBeBoundTo() throws Exception {
        MemoryRegion plain = pair.b.node.domain.register(pair.b.memory, AccessFlag.LOCAL_WRITE);
        MemoryWindow window = pair.b.node.domain.allocateMemoryWindow(MemoryWindowType.TYPE_2);
        pair.b.queuePair.postSend(pair.b.request(1).bind(window, window.rkey(),
                new MemoryWindowBind(plain, plain.address(), 8, Set.of())));
        pair.settle();
        pair.b.assertCompleted("1 MEMORY_WINDOW_BIND_ERROR");
    }

    @Test
    void zeroBasedWindowCountsFromZero() throws Exception {
        MemoryWindow window = pair.b.node.domain.allocateMemoryWindow(MemoryWindowType.TYPE_2);
        pair.b.queuePair.postSend(pair.b.request(1).bind(window, window.rkey(),
                stretch(AccessFlag.REMOTE_WRITE, AccessFlag.ZERO_BASED)));
        pair.settle();
        pair.b.assertCompleted("1 SUCCESS");
        pair.a.queuePair.postSend(
                pair.a.request(2).write(0, window.rkey()).add(pair.a.region, 0, LENGTH));
        pair.settle();
        pair.a.assertCompleted("2 SUCCESS");
        assertThat(pair.b.hasPeersBytes(LENGTH)).isTrue();
    }

    @Test
    void bindsOfTypeOneUnderWayHaveKeysOfTheirOwn() throws Exception {
        MemoryWindow window = pair.b.node.domain.allocateMemoryWindow(MemoryWindowType.TYPE_1);
        Set<Integer> keys = new HashSet<>();
        keys.add(window.rkey());
        pair.simulation.network.loseIf(packet -> packet.opcode().isResponse());
        pair.b.write(50, 100);
        for (int i = 0; i < 3; i++) {
            pair.b.queuePair.bindMemoryWindow(i, window, stretch(AccessFlag.REMOTE_WRITE),
                    SendFlag.SIGNALED);
            assertThat(keys.add(window.rkey())).isTrue();
            pair.b.write(60 + i, 100);
        }
        pair.run(200_000);
        pair.simulation.network.loseIf(null);
        pair.settle();
        assertThat(keys).contains(window.rkey());
        assertThat(pair.b.completions).hasSize(7).allMatch(c -> c.isSuccess());
        write(4, window.rkey(), START, 8);
        pair.a.assertCompleted("4 SUCCESS");
    }

    @Test
    void bindsOfSeveralThreadsHaveKeysOfTheirOwn() throws Exception {
        MemoryWindow window = pair.b.node.domain.allocateMemoryWindow(MemoryWindowType.TYPE_1);
        QueuePair one = connectedWithRoom();
        QueuePair another = connectedWithRoom();
        int first = window.rkey();
        Race race = new Race();
        // Fewer binds than a window has keys.
        for (QueuePair queuePair : new QueuePair[]{one, one, another}) {
            race.once("binder", () -> {
                for (int i = 0; i < 80; i++) {
                    queuePair.bindMemoryWindow(i, window, stretch(AccessFlag.REMOTE_WRITE));
                }
            });
        }
        race.run();
        assertThat(window.rkey() - first & 0xff).isEqualTo(3 * 80);
    }

    private QueuePair connectedWithRoom() throws Exception {
        QueuePairCapabilities sizes = QueuePairCapabilities.ofDepth(200, 1);
        QueuePair queuePair = pair.b.node.queuePair(pair.b.completionQueue, sizes);
        pair.simulation.connect(pair.a.node.queuePair(pair.a.completionQueue, sizes), queuePair,
                Mtu.MTU_1024, 7);
        return queuePair;
    }

    @Test
    void bindThatIsRefusedLeavesTheKey() throws Exception {
        MemoryWindow window = pair.b.node.domain.allocateMemoryWindow(MemoryWindowType.TYPE_1);
        pair.b.queuePair.bindMemoryWindow(1, window, stretch(AccessFlag.REMOTE_WRITE),
                SendFlag.SIGNALED);
        pair.settle();
        pair.b.assertCompleted("1 SUCCESS");
        int key = window.rkey();
        pair.b.queuePair.modify(new QueuePairAttributes().state(QueuePairState.RESET));
        assertThatExceptionOfType(RdmaException.class).isThrownBy(() -> pair.b.queuePair
                .bindMemoryWindow(2, window, stretch(AccessFlag.REMOTE_WRITE), SendFlag.SIGNALED));
        assertThat(window.rkey()).isEqualTo(key);
    }

    @Test
    void bindThatFailsBehindALostRequestStillCompletes() throws Exception {
        MemoryRegion closing = pair.b.node.domain.register(Arena.ofAuto().allocate(64), Set.of());
        MemoryWindow window = pair.b.node.domain.allocateMemoryWindow(MemoryWindowType.TYPE_2);
        MemoryRegion plain = pair.b.node.domain.register(pair.b.memory, AccessFlag.LOCAL_WRITE);
        pair.simulation.network.loseIf(packet -> packet.opcode().isResponse());
        pair.b.write(1, 10);
        pair.b.queuePair.postSend(
                pair.b.request(2).write(pair.a.region.address(), pair.a.region.rkey())
                        .add(closing, 0, 10));
        pair.run(100_000);
        closing.close();
        pair.b.queuePair.postSend(pair.b.request(3).bind(window, window.rkey(),
                new MemoryWindowBind(plain, plain.address(), 8, Set.of())));
        pair.run(70_000_000);
        pair.simulation.network.loseIf(null);
        pair.simulation.network.inject(pair.a.forge(Opcode.RC_ACKNOWLEDGE, Pair.FIRST_PSN + 1)
                .acknowledgement(0x1f, 2));
        pair.settle();
        pair.b.assertCompleted("1 SUCCESS", "2 SUCCESS", "3 MEMORY_WINDOW_BIND_ERROR");
    }
}
