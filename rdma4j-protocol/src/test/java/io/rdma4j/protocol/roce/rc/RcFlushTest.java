// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.protocol.roce.rc;

import io.rdma4j.protocol.roce.wire.Opcode;
import io.rdma4j.protocol.roce.wire.OutgoingPacket;
import io.rdma4j.protocol.work.FlushOutcome;
import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.FlushPlacement;
import io.rdma4j.verbs.FlushSelectivity;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.QueuePairState;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.lang.foreign.Arena;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.EnumSet;

import static org.assertj.core.api.Assertions.assertThat;

/** A responder that is asked to make mapped memory persistent: the host does it, and says when. */
class RcFlushTest {
    private static final int LENGTH = 4096;
    private static final int KEY = 3;
    private static final String NOTHING = "-";
    private static final String REFUSED_BY_THE_SYSTEM = "NAK_REMOTE_OPERATIONAL 0, !REQUEST_ERROR, >ERR";

    private final Arena arena = Arena.ofShared();
    private final RcPair pair = new RcPair();
    private final RcEnd responder = pair.b;

    RcFlushTest(@TempDir Path folder) throws Exception {
        try (FileChannel file = FileChannel.open(folder.resolve("mapped"),
                StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            responder.regions.register(KEY, 0,
                    file.map(FileChannel.MapMode.READ_WRITE, 0, LENGTH, arena),
                    EnumSet.of(AccessFlag.FLUSH_PERSISTENT, AccessFlag.FLUSH_GLOBAL,
                            AccessFlag.REMOTE_READ));
        }
        pair.a.isStopped = true;
    }

    @AfterEach
    void close() {
        arena.close();
    }

    /** {@return what the responder does about a FLUSH, at once} */
    private String onFlush(int index) {
        return onRequest(pair.a.forge(Opcode.RC_FLUSH, index)
                .flush(FlushPlacement.PERSISTENT.bit() | FlushSelectivity.RANGE.code() << 4)
                .rdma(0, KEY, LENGTH));
    }

    private String onRead(int index) {
        return onRequest(pair.a.forge(Opcode.RC_READ_REQUEST, index).rdma(0, KEY, 8));
    }

    private String onRequest(OutgoingPacket request) {
        return Effects.of(responder, () -> pair.wire.deliver(responder, request));
    }

    /** {@return what it does when the host says how a flush has ended} */
    private String onFlushed(RcEnd.Flush flush, FlushOutcome outcome) {
        return Effects.of(responder,
                () -> responder.queuePair.onFlushed(flush.ticket(), outcome));
    }

    private RcEnd.Flush begun() {
        RcEnd.Flush flush = responder.flushes.getLast();
        assertThat(flush.offset()).isZero();
        assertThat(flush.length()).isEqualTo(LENGTH);
        return flush;
    }

    @Test
    void isAnsweredWhenTheHostHasDoneIt() {
        assertThat(onFlush(0)).isEqualTo(NOTHING);
        assertThat(onFlushed(begun(), FlushOutcome.DONE)).isEqualTo("READ_RESPONSE_ONLY 0");
    }

    @Test
    void thatTheHostCannotStartIsAnOperationalError() {
        responder.canFlush = false;
        assertThat(onFlush(0)).isEqualTo(REFUSED_BY_THE_SYSTEM);
        assertThat(onFlushed(begun(), FlushOutcome.DONE)).isEqualTo(NOTHING);
    }

    @Test
    void thatFailsIsAnOperationalError() {
        onFlush(0);
        assertThat(onFlushed(begun(), FlushOutcome.FAILED)).isEqualTo(REFUSED_BY_THE_SYSTEM);
    }

    @Test
    void whoseMemoryIsGoneIsAnAccessError() {
        onFlush(0);
        assertThat(onFlushed(begun(), FlushOutcome.MEMORY_GONE))
                .isEqualTo("NAK_REMOTE_ACCESS 0, !ACCESS_ERROR, >ERR");
    }

    @Test
    void isBegunOnceHoweverOftenItIsAskedFor() {
        assertThat(onFlush(0)).isEqualTo(NOTHING);
        assertThat(onFlush(0)).isEqualTo(NOTHING);
        assertThat(onFlushed(begun(), FlushOutcome.DONE)).isEqualTo("READ_RESPONSE_ONLY 0");
        assertThat(onFlush(0)).isEqualTo("READ_RESPONSE_ONLY 0");
        assertThat(responder.flushes).hasSize(1);
    }

    @Test
    void holdsBackWhatFollowsAndAsksForItWhenItIsDone() {
        assertThat(onFlush(0)).isEqualTo(NOTHING);
        assertThat(onRead(1)).isEqualTo(NOTHING);
        assertThat(onFlush(2)).isEqualTo(NOTHING);
        assertThat(onFlushed(begun(), FlushOutcome.DONE))
                .isEqualTo("READ_RESPONSE_ONLY 0, NAK_SEQUENCE 1");
        assertThat(onRead(1)).isEqualTo("READ_RESPONSE_ONLY 1");
        assertThat(responder.flushes).hasSize(1);
    }

    @Test
    void answersToWhatCameBeforeDoNotWait() {
        assertThat(onRead(0)).isEqualTo("READ_RESPONSE_ONLY 0");
        assertThat(onFlush(1)).isEqualTo(NOTHING);
        assertThat(onRead(0)).isEqualTo("READ_RESPONSE_ONLY 0");
    }

    @Test
    void ofAnEarlierLifeMeansNothing() {
        onFlush(0);
        RcEnd.Flush old = begun();
        responder.modify(new QueuePairAttributes().state(QueuePairState.RESET));
        responder.bringTo(QueuePairState.RTS, pair.a, pair.settings);
        onFlush(0);
        assertThat(onFlushed(old, FlushOutcome.FAILED)).isEqualTo(NOTHING);
        assertThat(onFlushed(begun(), FlushOutcome.DONE)).isEqualTo("READ_RESPONSE_ONLY 0");
    }

    @Test
    void thatEndsAfterAFailureChangesNothing() {
        onFlush(0);
        responder.modify(new QueuePairAttributes().state(QueuePairState.ERR));
        assertThat(onFlushed(begun(), FlushOutcome.DONE)).isEqualTo(NOTHING);
    }

    /** What is only to be seen by everybody need not be written to the file. */
    @Test
    void toEveryObserverIsDoneAtOnce() {
        assertThat(onRequest(pair.a.forge(Opcode.RC_FLUSH, 0).flush(FlushPlacement.GLOBAL.bit())
                .rdma(0, KEY, LENGTH))).isEqualTo("READ_RESPONSE_ONLY 0");
        assertThat(responder.flushes).isEmpty();
    }

    @Test
    void ofNothingIsDoneAtOnce() {
        assertThat(onRequest(pair.a.forge(Opcode.RC_FLUSH, 0)
                .flush(FlushPlacement.PERSISTENT.bit()).rdma(0, KEY, 0)))
                .isEqualTo("READ_RESPONSE_ONLY 0");
        assertThat(responder.flushes).isEmpty();
    }

    @Test
    void ofAWholeRegionIsOfAllItsBytes() {
        assertThat(onRequest(pair.a.forge(Opcode.RC_FLUSH, 0)
                .flush(FlushPlacement.PERSISTENT.bit() | FlushSelectivity.MEMORY_REGION.code() << 4)
                .rdma(5, KEY, 7))).isEqualTo(NOTHING);
        assertThat(onFlushed(begun(), FlushOutcome.DONE)).isEqualTo("READ_RESPONSE_ONLY 0");
    }

    /** It is repeated, and answered then. */
    @Test
    void thatIsDoneWhileRepeatedRequestsFillTheRoomIsAnsweredWhenItComesAgain() {
        for (int i = 0; i < 8; i++) {
            onRead(i);
        }
        onFlush(8);
        responder.isHeldUp = true;
        for (int i = 0; i < 8; i++) {
            onRead(i);
        }
        responder.queuePair.onFlushed(begun().ticket(), FlushOutcome.DONE);
        responder.isHeldUp = false;
        assertThat(Effects.of(responder, responder::work))
                .isEqualTo("READ_RESPONSE_ONLY 0 to READ_RESPONSE_ONLY 7");
        assertThat(onFlush(8)).isEqualTo("READ_RESPONSE_ONLY 8");
        assertThat(responder.flushes).hasSize(1);
    }
}
