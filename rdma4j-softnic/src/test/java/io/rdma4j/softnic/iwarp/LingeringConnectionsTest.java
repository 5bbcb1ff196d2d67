// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.iwarp;

import io.rdma4j.protocol.count.Counter;
import io.rdma4j.protocol.iwarp.MpaSettings;
import io.rdma4j.softnic.network.stream.PortableStreams;
import io.rdma4j.softnic.network.stream.Stream;
import io.rdma4j.verbs.RdmaException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Random;

import static org.assertj.core.api.Assertions.assertThat;

/** Connections that are over, of which not all has left, or which their peers keep: how long, and how many. */
class LingeringConnectionsTest {
    private static final long LINGER_NS = 30_000_000_000L;
    /** How long too many are not too many. */
    private static final long GRACE_NS = 1_000_000_000;
    private static final int LONG = 10_000;
    private static final int SHORT = 5_000;

    private final Buffers buffers = new Buffers();
    private final PortableStreams network;
    private final IwarpLink link;
    private final List<ObstinateStream> streams = new ArrayList<>();

    LingeringConnectionsTest() throws RdmaException {
        network = new PortableStreams();
        link = new IwarpLink(network,
                new IwarpSettings(MpaSettings.USUAL, 0,
                        new IwarpPatience(1, 1, 1, 1, LINGER_NS, 0)),
                new Random(1)::nextInt, buffers);
    }

    @AfterEach
    void close() {
        network.close();
    }

    /** Takes as many bytes as there is room for, and whose peer never says anything. */
    private static final class ObstinateStream implements Stream {
        int room;
        boolean isBroken;
        String end = "";

        @Override
        public void handler(Handler handler) {
            // Nothing happens to it.
        }

        @Override
        public InetSocketAddress local() {
            return new InetSocketAddress(InetAddress.getLoopbackAddress(), 1);
        }

        @Override
        public InetSocketAddress remote() {
            return local();
        }

        @Override
        public int read(ByteBuffer into) {
            return 0;
        }

        @Override
        public int write(ByteBuffer from) {
            if (isBroken) {
                return END;
            }
            int length = Math.min(room, from.remaining());
            from.position(from.position() + length);
            room -= length;
            return length;
        }

        @Override
        public boolean isAcknowledged() {
            return false;
        }

        @Override
        public void finish() {
            end = "finished";
        }

        @Override
        public void close() {
            end += end.isEmpty() ? "closed" : ", closed";
        }

        @Override
        public void reset() {
            end = "reset";
        }
    }

    /** Of which there may be none. */
    private static final class Buffers extends UnsentBuffers {
        boolean areOut;

        Buffers() {
            super(LONG, SHORT);
        }

        @Override
        @Nullable
        ByteBuffer take(int atLeast) {
            return areOut ? null : super.take(atLeast);
        }
    }

    private static final class Sender implements StreamConnection.User {
        boolean hasEnded;

        @Override
        public long onBytes(MemorySegment memory, long offset, long available) {
            return available;
        }

        @Override
        public void onRoom() {
            // It has sent all.
        }

        @Override
        public void onEnd() {
            hasEnded = true;
        }
    }

    /** A connection that has sent 100 bytes, of which the system has taken some, and was closed. */
    private StreamConnection closed(int taken) {
        ObstinateStream stream = new ObstinateStream();
        stream.room = taken;
        streams.add(stream);
        StreamConnection connection = new StreamConnection(link, stream, new Sender());
        connection.send(ByteBuffer.allocate(100));
        connection.close();
        return connection;
    }

    private String end(int index) {
        return streams.get(index).end;
    }

    private long cutShort() {
        return link.engine().counters().value(Counter.SEND_ERR);
    }

    @Test
    void whatDoesNotLeaveInTimeIsCutShortAndCounted() {
        closed(50);
        assertThat(link.deadlineNs()).isEqualTo(LINGER_NS);
        link.onTime(LINGER_NS - 1);
        assertThat(end(0)).isEmpty();
        link.onTime(LINGER_NS);
        assertThat(end(0)).startsWith("reset");
        assertThat(cutShort()).isEqualTo(1);
        assertThat(link.deadlineNs()).isEqualTo(Long.MAX_VALUE);
    }

    @Test
    void whatLeavesInTimeIsFollowedByTheEnd() {
        StreamConnection connection = closed(50);
        streams.getFirst().room = 50;
        connection.onWritable();
        assertThat(end(0)).isEqualTo("finished");
        link.onTime(LINGER_NS);
        assertThat(end(0)).isEqualTo("finished, closed");
        assertThat(cutShort()).isZero();
        assertThat(link.deadlineNs()).isEqualTo(Long.MAX_VALUE);
    }

    @Test
    void aPeerThatNeverEndsItIsLeftToTheSystem() {
        closed(100);
        assertThat(end(0)).isEqualTo("finished");
        link.onTime(LINGER_NS);
        assertThat(end(0)).isEqualTo("finished, closed");
        assertThat(cutShort()).isZero();
    }

    @Test
    void ofTooManyThatHaveSomethingToSendTheOldestIsCutShort() {
        for (int i = 0; i <= LingeringConnections.MOST_UNSENT; i++) {
            closed(0);
        }
        assertThat(link.deadlineNs()).isEqualTo(GRACE_NS);
        link.onTime(GRACE_NS - 1);
        assertThat(streams).as("in a moment's time").allMatch(each -> each.end.isEmpty());
        link.onTime(GRACE_NS);
        assertThat(end(0)).startsWith("reset");
        assertThat(link.deadlineNs()).isEqualTo(LINGER_NS);
        assertThat(streams.subList(1, streams.size())).allMatch(each -> each.end.isEmpty());
        assertThat(cutShort()).isEqualTo(1);
    }

    /** Nothing is lost thereby, so that is not counted. */
    @Test
    void ofTooManyThatWaitForTheirPeersTheOldestIsLetGo() {
        for (int i = 0; i <= LingeringConnections.MOST_SENT; i++) {
            closed(100);
        }
        assertThat(end(0)).isEqualTo("finished");
        link.onTime(GRACE_NS);
        assertThat(end(0)).isEqualTo("finished, closed");
        assertThat(end(1)).isEqualTo("finished");
        assertThat(cutShort()).isZero();
    }

    // ---------------------------------------------------------------- memory for what does not leave

    /** Direct memory that many connections have used once would be the garbage collector's to return. */
    @Test
    void aBufferIsGivenBackAsSoonAsItIsEmpty() {
        ObstinateStream stream = new ObstinateStream();
        stream.room = 50;
        StreamConnection connection = new StreamConnection(link, stream, new Sender());
        connection.send(ByteBuffer.allocate(LONG));
        assertThat(buffers.spareCount()).isZero();
        stream.room = LONG;
        connection.onWritable();
        assertThat(buffers.spareCount()).isEqualTo(1);
        assertThat(connection.hasRoom()).isTrue();
        stream.room = 0;
        connection.send(ByteBuffer.allocate(LONG));
        assertThat(buffers.spareCount()).as("taken by the next").isZero();
        connection.reset();
        assertThat(buffers.spareCount()).isEqualTo(1);
    }

    /** What is posted before the end is read must not complete as if it had been sent. */
    @Test
    void aBrokenStreamHasNoRoom() {
        ObstinateStream stream = new ObstinateStream();
        stream.isBroken = true;
        StreamConnection connection = new StreamConnection(link, stream, new Sender());
        connection.send(ByteBuffer.allocate(1));
        assertThat(connection.hasRoom()).isFalse();
    }

    @Test
    void ofManyThatKeepBytesTheLastKeepFew() {
        List<StreamConnection> deaf = new ArrayList<>();
        while (!buffers.isScarce()) {
            StreamConnection connection = new StreamConnection(link, new ObstinateStream(),
                    new Sender());
            connection.send(ByteBuffer.allocate(LONG));
            deaf.add(connection);
        }
        assertThat(deaf).hasSize(UnsentBuffers.MOST_LONG);
        ByteBuffer few = Objects.requireNonNull(buffers.take(SHORT));
        assertThat(few.capacity()).isEqualTo(SHORT);
        buffers.give(few);
        assertThat(buffers.take(SHORT)).as("kept for the next").isSameAs(few);
        deaf.getFirst().reset();
        assertThat(buffers.isScarce()).isFalse();
        assertThat(buffers.spareCount()).isEqualTo(1);
    }

    /** The last bytes of a burst are often all that is left. */
    @Test
    void fewBytesAreKeptWithoutAllocation() {
        ByteBuffer frame = Objects.requireNonNull(buffers.take(1));
        assertThat(frame.capacity()).isEqualTo(UnsentBuffers.FRAME);
        assertThat(frame.isDirect()).isFalse();
        buffers.give(frame);
        assertThat(buffers.take(UnsentBuffers.FRAME)).isSameAs(frame);
    }

    /** A stream with a gap in it is ended; other streams are not affected. */
    @Test
    void withoutMemoryForWhatDoesNotLeaveTheConnectionEnds() {
        buffers.areOut = true;
        ObstinateStream stream = new ObstinateStream();
        Sender sender = new Sender();
        StreamConnection connection = new StreamConnection(link, stream, sender);
        connection.send(ByteBuffer.allocate(LONG));
        assertThat(stream.end).startsWith("reset");
        assertThat(sender.hasEnded).isTrue();
        assertThat(cutShort()).isEqualTo(1);
    }
}
