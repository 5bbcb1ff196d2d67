package io.rdma4j.protocol.roce.rc;

import io.rdma4j.protocol.roce.RetransmissionCause;
import io.rdma4j.protocol.roce.wire.Opcode;
import io.rdma4j.protocol.roce.wire.OutgoingPacket;
import io.rdma4j.protocol.roce.wire.PacketView;
import io.rdma4j.protocol.roce.wire.Syndrome;
import io.rdma4j.protocol.work.FlushOutcome;
import io.rdma4j.protocol.work.Memory;
import io.rdma4j.protocol.work.MemoryReference;
import io.rdma4j.protocol.work.Path;
import io.rdma4j.protocol.work.QueuePairHost;
import io.rdma4j.protocol.work.ReceiveDetails;
import io.rdma4j.protocol.work.ReceiveQueue;
import io.rdma4j.protocol.work.ReceiveRequest;
import io.rdma4j.protocol.work.SendQueue;
import io.rdma4j.protocol.work.SendRequest;
import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.AsyncEventType;
import io.rdma4j.verbs.Counter;
import io.rdma4j.verbs.FlushPlacement;
import io.rdma4j.verbs.FlushSelectivity;
import io.rdma4j.verbs.Mtu;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.QueuePairState;
import io.rdma4j.verbs.WorkCompletionOpcode;
import io.rdma4j.verbs.WorkCompletionStatus;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

import static org.assertj.core.api.Assertions.assertThat;

/** A responder that is asked to make mapped memory persistent: the host does it, and says when. */
class RcFlushTest {
    private static final int FIRST_PSN = 100;
    private static final int LENGTH = 4096;

    private final Arena arena = Arena.ofShared();
    private final Host host = new Host();
    private final OutgoingPacket outgoing = packet();
    private final PacketView answer = new PacketView();
    private final RcQueuePair queuePair;

    RcFlushTest(@TempDir java.nio.file.Path folder) throws Exception {
        try (FileChannel file = FileChannel.open(folder.resolve("mapped"),
                StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            MemorySegment mapped = file.map(FileChannel.MapMode.READ_WRITE, 0, LENGTH, arena);
            queuePair = new RcQueuePair(new NoSends(), new NoReceives(), new OneRegion(mapped),
                    host);
        }
        queuePair.modify(new QueuePairAttributes().accessFlags(
                Set.of(AccessFlag.FLUSH_PERSISTENT, AccessFlag.REMOTE_READ)),
                QueuePairState.INIT, 0);
        queuePair.modify(new QueuePairAttributes().pathMtu(Mtu.MTU_1024)
                .destinationQueuePair(17).receivePsn(FIRST_PSN).maxDestinationReadAtomic(2),
                QueuePairState.RTR, 0);
    }

    @AfterEach
    void close() {
        arena.close();
    }

    private static OutgoingPacket packet() {
        return new OutgoingPacket(MemorySegment.ofArray(new byte[Opcode.MAX_HEADER_LENGTH]));
    }

    private void receive(OutgoingPacket request) {
        PacketView view = new PacketView();
        assertThat(view.wrap(request, MemorySegment.ofArray(new byte[0]))).isTrue();
        queuePair.onPacket(view, 0);
    }

    private void receiveFlush(int psn) {
        receive(packet().begin(Opcode.RC_FLUSH, Path.NONE, 18, psn, true, false)
                .flush(FlushPlacement.PERSISTENT.bit() | FlushSelectivity.RANGE.code() << 4)
                .rdma(0, 1, LENGTH));
    }

    private void receiveRead(int psn) {
        receive(packet().begin(Opcode.RC_READ_REQUEST, Path.NONE, 18, psn, true, false)
                .rdma(0, 1, 8));
    }

    private void assertSilent() {
        assertThat(queuePair.pollTransmit(outgoing, 0)).isFalse();
    }

    private void assertAnswered(Opcode opcode, int psn) {
        assertThat(queuePair.pollTransmit(outgoing, 0)).isTrue();
        answer.wrap(outgoing, MemorySegment.ofArray(new byte[0]));
        assertThat(answer.opcode()).isEqualTo(opcode);
        assertThat(answer.psn()).isEqualTo(psn);
    }

    private void assertRefused(int syndrome) {
        assertAnswered(Opcode.RC_ACKNOWLEDGE, FIRST_PSN);
        assertThat(answer.syndrome()).isEqualTo(syndrome);
        assertThat(queuePair.state()).isEqualTo(QueuePairState.ERR);
        assertSilent();
    }

    @Test
    void isAnsweredWhenTheHostHasDoneIt() {
        receiveFlush(FIRST_PSN);
        assertSilent();
        queuePair.onFlushed(host.ticket(), FlushOutcome.DONE);
        assertAnswered(Opcode.RC_READ_RESPONSE_ONLY, FIRST_PSN);
        assertSilent();
    }

    @Test
    void thatTheHostCannotStartIsAnOperationalError() {
        host.canFlush = false;
        receiveFlush(FIRST_PSN);
        assertRefused(Syndrome.NAK_REMOTE_OPERATIONAL_ERROR);
        queuePair.onFlushed(host.ticket(), FlushOutcome.DONE);
        assertSilent();
    }

    @Test
    void thatFailsIsAnOperationalError() {
        receiveFlush(FIRST_PSN);
        queuePair.onFlushed(host.ticket(), FlushOutcome.FAILED);
        assertRefused(Syndrome.NAK_REMOTE_OPERATIONAL_ERROR);
    }

    @Test
    void whoseMemoryIsGoneIsAnAccessError() {
        receiveFlush(FIRST_PSN);
        queuePair.onFlushed(host.ticket(), FlushOutcome.MEMORY_GONE);
        assertRefused(Syndrome.NAK_REMOTE_ACCESS_ERROR);
    }

    @Test
    void isBegunOnceHoweverOftenItIsAskedFor() {
        receiveFlush(FIRST_PSN);
        receiveFlush(FIRST_PSN);
        assertSilent();
        queuePair.onFlushed(host.ticket(), FlushOutcome.DONE);
        assertAnswered(Opcode.RC_READ_RESPONSE_ONLY, FIRST_PSN);
        receiveFlush(FIRST_PSN);
        assertAnswered(Opcode.RC_READ_RESPONSE_ONLY, FIRST_PSN);
        assertThat(host.tickets).hasSize(1);
    }

    @Test
    void holdsBackWhatFollowsAndAsksForItWhenItIsDone() {
        receiveFlush(FIRST_PSN);
        receiveRead(FIRST_PSN + 1);
        receiveFlush(FIRST_PSN + 2);
        assertSilent();
        queuePair.onFlushed(host.ticket(), FlushOutcome.DONE);
        assertAnswered(Opcode.RC_READ_RESPONSE_ONLY, FIRST_PSN);
        assertAnswered(Opcode.RC_ACKNOWLEDGE, FIRST_PSN + 1);
        assertThat(answer.syndrome()).isEqualTo(Syndrome.NAK_PSN_SEQUENCE_ERROR);
        receiveRead(FIRST_PSN + 1);
        assertAnswered(Opcode.RC_READ_RESPONSE_ONLY, FIRST_PSN + 1);
        assertThat(host.tickets).hasSize(1);
    }

    @Test
    void answersToWhatCameBeforeDoNotWait() {
        receiveRead(FIRST_PSN);
        receiveFlush(FIRST_PSN + 1);
        assertAnswered(Opcode.RC_READ_RESPONSE_ONLY, FIRST_PSN);
        assertSilent();
        receiveRead(FIRST_PSN);
        assertAnswered(Opcode.RC_READ_RESPONSE_ONLY, FIRST_PSN);
    }

    @Test
    void ofAnEarlierLifeMeansNothing() {
        receiveFlush(FIRST_PSN);
        long old = host.ticket();
        queuePair.modify(new QueuePairAttributes(), QueuePairState.RESET, 0);
        queuePair.modify(new QueuePairAttributes(), QueuePairState.INIT, 0);
        queuePair.modify(new QueuePairAttributes().receivePsn(FIRST_PSN), QueuePairState.RTR, 0);
        receiveFlush(FIRST_PSN);
        queuePair.onFlushed(old, FlushOutcome.FAILED);
        assertSilent();
        assertThat(queuePair.state()).isEqualTo(QueuePairState.RTR);
        queuePair.onFlushed(host.ticket(), FlushOutcome.DONE);
        assertAnswered(Opcode.RC_READ_RESPONSE_ONLY, FIRST_PSN);
    }

    @Test
    void thatEndsAfterAFailureChangesNothing() {
        receiveFlush(FIRST_PSN);
        queuePair.modify(new QueuePairAttributes(), QueuePairState.ERR, 0);
        queuePair.onFlushed(host.ticket(), FlushOutcome.DONE);
        assertSilent();
    }

    // ---------------------------------------------------------------- around it

    private static final class NoSends implements SendQueue {
        @Override
        public long end() {
            return 0;
        }

        @Override
        public SendRequest request(long index) {
            throw new IllegalArgumentException("nothing was posted");
        }

        @Override
        public void retire() {}

        @Override
        public long clear() {
            return 0;
        }
    }

    private static final class NoReceives implements ReceiveQueue {
        @Override
        public @Nullable ReceiveRequest take() {
            return null;
        }

        @Override
        public void release(ReceiveRequest request) {}

        @Override
        public int available() {
            return 0;
        }

        @Override
        public boolean isShared() {
            return false;
        }
    }

    /** Its addresses begin with 0, its key is of no interest. */
    private record OneRegion(MemorySegment segment) implements Memory {
        @Override
        public boolean local(int lkey, long address, long length, boolean isWrite,
                MemoryReference target) {
            return false;
        }

        @Override
        public boolean remote(int rkey, long address, long length, AccessFlag needed,
                MemoryReference target) {
            target.point(segment, address);
            return true;
        }

        @Override
        public long remoteWhole(int rkey, AccessFlag needed, MemoryReference target) {
            target.point(segment, 0);
            return segment.byteSize();
        }
    }

    private static final class Host implements QueuePairHost {
        final List<Long> tickets = new ArrayList<>();
        boolean canFlush = true;

        long ticket() {
            return tickets.getLast();
        }

        @Override
        public boolean flush(MemorySegment memory, long offset, long length, long ticket) {
            assertThat(offset).isZero();
            assertThat(length).isEqualTo(LENGTH);
            tickets.add(ticket);
            return canFlush;
        }

        @Override
        public void sendCompleted(SendRequest request, WorkCompletionStatus status,
                long byteLength) {}

        @Override
        public void receiveCompleted(ReceiveRequest request, WorkCompletionStatus status,
                WorkCompletionOpcode opcode, long byteLength, ReceiveDetails details) {}

        @Override
        public WorkCompletionStatus carryOut(SendRequest request) {
            return WorkCompletionStatus.SUCCESS;
        }

        @Override
        public boolean invalidate(int rkey) {
            return false;
        }

        @Override
        public void stateChanged(QueuePairState state) {}

        @Override
        public void asyncEvent(AsyncEventType type) {}

        @Override
        public void retransmits(int psn, RetransmissionCause cause) {}

        @Override
        public void count(Counter counter) {}

        @Override
        public void count(Counter counter, long times) {}
    }
}
