// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.iwarp;

import io.rdma4j.protocol.count.Counter;
import io.rdma4j.protocol.iwarp.IwarpHost;
import io.rdma4j.protocol.iwarp.IwarpQueuePair;
import io.rdma4j.protocol.iwarp.StreamParameters;
import io.rdma4j.protocol.iwarp.wire.OutgoingFpdu;
import io.rdma4j.protocol.work.Memory;
import io.rdma4j.softnic.engine.Engine;
import io.rdma4j.softnic.engine.EngineQueuePair;
import io.rdma4j.softnic.engine.QueuePairQueues;
import io.rdma4j.verbs.Gid;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.QueuePairState;
import io.rdma4j.verbs.RdmaException;
import org.jspecify.annotations.Nullable;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;

/** A queue pair of iWARP, and the TCP connection that it lives on. For the engine's owner. */
final class StreamQueuePair extends EngineQueuePair implements IwarpHost, StreamConnection.User {
    /** Shorter than one send, so that the reader can process the first units while the last are on their way. */
    private static final int LONGEST_UNIT = 64 << 10;

    private final IwarpLink link;
    private final IwarpQueuePair protocol;
    private @Nullable StreamConnection connection;
    private @Nullable IwarpConnection owner;
    private boolean hasCrc;
    private volatile @Nullable Gid peer;
    private boolean isWatched;
    /** A round has tried to send what was posted. Not for work that was posted since the last round: it cannot have made progress. */
    private boolean isTried;
    /** When bytes had passed last at the check before, if there was work. */
    private long lastProgressNs = Long.MIN_VALUE;
    private long checkNs;

    StreamQueuePair(IwarpLink link, int number, QueuePairQueues queues, Memory memory,
            Listener listener) {
        super(link.engine(), number, queues, listener);
        this.link = link;
        protocol = new IwarpQueuePair(queues.sends(), queues.receives(), memory, this);
    }

    @Override
    public IwarpQueuePair protocol() {
        return protocol;
    }

    @Override
    public String way() {
        return peer == null ? "" : "tcp";
    }

    @Override
    public @Nullable Gid peer() {
        return peer;
    }

    // ---------------------------------------------------------------- from connection to end

    /** {@return whether a connection can be made for it} */
    boolean isFree() {
        return connection == null && protocol.state() == QueuePairState.INIT;
    }

    /** The connection is established, and this queue pair uses its bytes from now on. */
    void connect(IwarpConnection by, StreamConnection on, StreamParameters parameters) {
        owner = by;
        connection = on;
        peer = Gid.of(on.remote().getAddress());
        hasCrc = parameters.hasCrc();
        on.user(this);
        protocol.connect(parameters, LONGEST_UNIT, link.settings().holdNs(), engine().timeNs());
        stateChanged(QueuePairState.RTS);
        moved(QueuePairState.RTS, "CONNECTED");
        engine().touched(this);
    }

    /** Ends the connection once what was posted before has been sent. */
    void disconnect() {
        protocol.disconnect();
        engine().touched(this);
    }

    /** Ends the connection after the sent bytes. */
    void leave() {
        StreamConnection present = connection;
        if (present != null) {
            present.close();
            onEnd();
        }
    }

    /** Ends the connection at once. */
    void abort() {
        StreamConnection present = connection;
        if (present != null) {
            present.reset();
            onEnd();
        }
    }

    private void leaveConnection() {
        IwarpConnection by = owner;
        owner = null;
        connection = null;
        peer = null;
        isWatched = false;
        isTried = false;
        link.forgetWork(this);
        if (by != null) {
            reportEnded(by);
        }
    }

    /** The connection is over whatever its handler does. */
    private static void reportEnded(IwarpConnection by) {
        try {
            by.onEnded();
        } catch (RuntimeException | InternalError defect) {
            Engine.report("the end of a connection was not handled", defect);
        }
    }

    // ---------------------------------------------------------------- sending

    @Override
    protected int transmit(int most) {
        int units = send(most);
        isTried = isWorking();
        if (!isWatched && isTried) {
            watch();
        }
        return units;
    }

    private int send(int most) {
        engine().protectOwner();
        StreamConnection present = connection;
        if (present == null || !(present.hasRoom() || isEnding())) {
            return 0;
        }
        MemorySegment memory = link.outbound();
        int units = 0;
        int length = 0;
        boolean isFull = false;
        OutgoingFpdu unit = poll();
        while (unit != null) {
            int copied = unit.copyTo(memory, length, hasCrc ? link.crc() : null);
            unit.release();
            if (copied == OutgoingFpdu.PAYLOAD_GONE) {
                protocol.onPayloadGone();
            } else {
                length += copied;
                units++;
            }
            // A message of 1 MiB is a unit longer than a burst: its last bytes shall not cost a call, and wake its reader, alone.
            isFull = (units >= most && !protocol.isWithinMessage())
                    || link.isBurst(length);
            unit = isFull ? null : poll();
        }
        if (length > 0) {
            ByteBuffer bytes = link.outboundBuffer().limit(length).position(0);
            present.send(bytes);
            count(Counter.SENT_PKTS, units);
            count(Counter.SENT_BYTES, length);
            if (connection == null) {
                // There was no memory for what the network did not take.
                return units;
            }
        }
        if (isFull) {
            // Not all packets may have been sent.
            return most;
        }
        if (protocol.isOver()) {
            present.close();
            protocol.onStreamEnd();
            leaveConnection();
        }
        return units;
    }

    private boolean isWorking() {
        StreamConnection present = connection;
        return present != null && (protocol.isWaiting() || present.hasUnsent());
    }

    /** Progress is checked twice in the time that it may take. */
    private void watch() {
        isWatched = true;
        checkNs = engine().timeNs() + link.settings().patience().progressNs() / 2;
        link.awaitProgress(this);
    }

    /** {@return when {@link #checkProgress} is due} */
    long checkNs() {
        return checkNs;
    }

    /**
     * Ends the connection if its work makes no progress: the peer's system acknowledges that it has no room, or answers for a
     * process that does not, and TCP would wait without end.
     */
    void checkProgress(long nowNs) {
        isWatched = false;
        StreamConnection present = connection;
        if (present == null || !isTried || !isWorking()) {
            return;
        }
        long progressNs = present.progressNs();
        boolean isLong = nowNs - progressNs >= link.settings().patience().progressNs();
        if (isLong && progressNs == lastProgressNs) {
            moved(QueuePairState.ERR, "NO_PROGRESS");
            abort();
            return;
        }
        // A check may come late, as after the process was stopped, and the work have begun just now.
        lastProgressNs = progressNs;
        watch();
    }

    /** {@return whether at most a Terminate message has to be sent, which is kept if there is no room} */
    private boolean isEnding() {
        return protocol.state() == QueuePairState.ERR || protocol.isOver();
    }

    private @Nullable OutgoingFpdu poll() {
        try {
            return protocol.pollTransmit(link.unit(), engine().timeNs());
        } catch (RuntimeException | InternalError defect) {
            engine().contain(this, defect);
            return null;
        }
    }

    @Override
    public boolean isAcknowledged() {
        StreamConnection present = connection;
        return present == null || present.isAcknowledged();
    }

    @Override
    public void onRoom() {
        engine().touched(this);
    }

    // ---------------------------------------------------------------- receiving

    @Override
    public long onBytes(MemorySegment memory, long offset, long available) {
        engine().protectOwner();
        long used = available;
        try {
            used = protocol.onBytes(memory, offset, available, engine().timeNs());
        } catch (RuntimeException | InternalError defect) {
            engine().contain(this, defect);
        }
        count(Counter.RCVD_BYTES, used);
        engine().touched(this);
        return used;
    }

    @Override
    public void onEnd() {
        protocol.onStreamEnd();
        engine().touched(this);
        leaveConnection();
    }

    @Override
    protected void onDetached() {
        leave();
    }

    /** A queue pair that is reset forgets the posted work and its connection, which ends after the sent bytes. */
    @Override
    public void modify(QueuePairAttributes attributes, QueuePairState next, long nowNs)
            throws RdmaException {
        super.modify(attributes, next, nowNs);
        StreamConnection present = connection;
        IwarpConnection by = owner;
        if (next == QueuePairState.SQD && by != null) {
            by.onLeaving();
        }
        if (next == QueuePairState.RESET && present != null) {
            // First, so that handlers of the end find the new state.
            stateChanged(next);
            present.close();
            leaveConnection();
        }
    }

    @Override
    public void terminated(boolean isOwn, String reason) {
        moved(QueuePairState.ERR, (isOwn ? "TERMINATE sent: " : "TERMINATE received: ") + reason);
    }

    @Override
    public void peerIsReady() {
        IwarpConnection by = owner;
        if (by != null) {
            by.onPeerReady();
        }
    }
}
