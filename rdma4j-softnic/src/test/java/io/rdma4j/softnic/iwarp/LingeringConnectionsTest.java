package io.rdma4j.softnic.iwarp;

import io.rdma4j.protocol.iwarp.MpaSettings;
import io.rdma4j.softnic.network.stream.PortableStreams;
import io.rdma4j.softnic.network.stream.Stream;
import io.rdma4j.verbs.Counter;
import io.rdma4j.verbs.RdmaException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

import static org.assertj.core.api.Assertions.assertThat;

/** Connections that are over, of which not all has left, or which their peers keep: how long, and how many. */
class LingeringConnectionsTest {
    private static final long LINGER_NS = 1_000;

    private final PortableStreams network;
    private final IwarpLink link;
    private final List<ObstinateStream> streams = new ArrayList<>();

    LingeringConnectionsTest() throws RdmaException {
        network = new PortableStreams();
        link = new IwarpLink(network,
                new IwarpSettings(MpaSettings.USUAL, 0, new IwarpPatience(1, 1, 1, LINGER_NS, 0)),
                new Random(1)::nextInt);
    }

    @AfterEach
    void close() {
        network.close();
    }

    /** Takes as many bytes as there is room for, and whose peer never says anything. */
    private static final class ObstinateStream implements Stream {
        int room;
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

    private static final class Sender implements StreamConnection.User {
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
            // It has ended it.
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
        assertThat(end(0)).startsWith("reset");
        assertThat(streams.subList(1, streams.size())).allMatch(each -> each.end.isEmpty());
        assertThat(cutShort()).isEqualTo(1);
    }

    /** Nothing is lost thereby, so that is not counted. */
    @Test
    void ofTooManyThatWaitForTheirPeersTheOldestIsLetGo() {
        for (int i = 0; i <= LingeringConnections.MOST_SENT; i++) {
            closed(100);
        }
        assertThat(end(0)).isEqualTo("finished, closed");
        assertThat(end(1)).isEqualTo("finished");
        assertThat(cutShort()).isZero();
    }
}
