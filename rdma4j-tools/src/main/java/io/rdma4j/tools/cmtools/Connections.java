// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.cmtools;

import io.rdma4j.cm.CmEvent;
import io.rdma4j.cm.CmEventChannel;
import io.rdma4j.cm.CmId;
import io.rdma4j.connection.PortSpace;
import io.rdma4j.tools.endpoint.SendRefusals;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.WorkCompletion;
import io.rdma4j.verbs.WorkCompletionStatus;
import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.function.Predicate;

/**
 * All connections of a tool and the channel their events arrive in.
 *
 * <p>A thread that waits, for events or for completions, handles the events of all: a failure of one connection
 * ends every wait.
 */
final class Connections implements AutoCloseable {
    /** A tool's handling of an event of a connection. */
    @FunctionalInterface
    interface Handler {
        /**
         * Handles an event.
         *
         * @param event not a failure, which ends the tool, nor an end of a connection, which is noted
         */
        void onEvent(CmEvent event) throws IOException;
    }

    private static final int BATCH = 8;
    /** How long to leave the completion queue alone when it is empty. */
    private static final Duration PAUSE = Duration.ofMillis(1);
    private static final Duration CAUSE = Duration.ofSeconds(1);

    private final Workload workload;
    private final Duration patience;
    private final Handler handler;
    private final List<Connection> all = new ArrayList<>();
    private final List<CmId> refused = new ArrayList<>();
    private final WorkCompletion[] batch = WorkCompletion.array(BATCH);
    private CmEventChannel channel = CmEventChannel.create();
    private @Nullable CmId listener;

    Connections(Workload workload, Duration patience, Handler handler) {
        this.workload = workload;
        this.patience = patience;
        this.handler = handler;
    }

    List<Connection> all() {
        return all;
    }

    private long count(Predicate<Connection> which) {
        return all.stream().filter(which).count();
    }

    // ---------------------------------------------------------------- ids

    /** {@return the id to listen with} */
    CmId listener(PortSpace space) throws RdmaException {
        CmId created = CmId.create(channel, space);
        listener = created;
        return created;
    }

    /** Adds connections that this side starts, as many as are wanted. */
    void addAll(PortSpace space) throws RdmaException {
        for (int i = 0; i < workload.connections(); i++) {
            add(CmId.create(channel, space));
        }
    }

    private Connection add(CmId id) {
        Connection connection = new Connection(id, workload);
        all.add(connection);
        return connection;
    }

    /** {@return the connection a request is for, or null if there are enough, so that it is rejected} */
    @Nullable
    Connection take(CmId request) throws RdmaException {
        if (all.size() < workload.connections()) {
            return add(request);
        }
        request.reject(new byte[0]);
        refused.add(request);
        return null;
    }

    /** {@return the connection of an event} */
    static Connection connectionOf(CmEvent event) {
        if (event.id().userContext() instanceof Connection connection) {
            return connection;
        }
        throw new IllegalStateException(event + " of no connection");
    }

    /** Moves everything to a new channel. */
    void migrate() throws RdmaException {
        CmEventChannel fresh = CmEventChannel.create();
        CmId listening = listener;
        if (listening != null) {
            listening.migrate(fresh);
        }
        for (Connection connection : all) {
            connection.id().migrate(fresh);
        }
        channel.close();
        channel = fresh;
    }

    // ---------------------------------------------------------------- waiting for events

    /** Waits for all connections; a server waits for the first one without end. */
    void awaitConnected() throws IOException {
        awaitAll(Connection::isConnected, "connected");
    }

    /** Waits until all connections have reported their end. */
    void awaitEnded() throws IOException {
        awaitAll(Connection::hasEnded, "disconnected");
    }

    private void awaitAll(Predicate<Connection> which, String done) throws IOException {
        await(() -> count(which) == workload.connections(), () -> count(which) + " of "
                + workload.connections() + " connections are " + done);
    }

    /** Says how far something has come. */
    @FunctionalInterface
    private interface Progress {
        String text();
    }

    private void await(BooleanSupplier isDone, Progress progress) throws IOException {
        while (!isDone.getAsBoolean()) {
            CmEvent event = all.isEmpty() ? channel.awaitEvent() : channel.pollEvent(patience);
            if (event == null) {
                for (Connection connection : all) {
                    // What was sent may have failed meanwhile, for example because nobody acknowledges it.
                    checkFailures(connection, true);
                }
                throw new Failure(Failure.TIMED_OUT, "nothing came from the peer for "
                        + patience.toSeconds() + " s; " + progress.text());
            }
            dispatch(event);
        }
    }

    /** Handles events for a while. */
    void linger(Duration time) throws IOException {
        long endNs = System.nanoTime() + time.toNanos();
        for (long left = time.toNanos(); left > 0; left = endNs - System.nanoTime()) {
            CmEvent event = channel.pollEvent(Duration.ofNanos(left));
            if (event != null) {
                dispatch(event);
            }
        }
    }

    private void dispatch(CmEvent event) throws IOException {
        try (event) {
            handle(event);
        }
        for (CmId id : refused) {
            id.close();
        }
        refused.clear();
    }

    private void handle(CmEvent event) throws IOException {
        switch (event.type()) {
            case ADDR_ERROR, ROUTE_ERROR, CONNECT_ERROR, UNREACHABLE, REJECTED, MULTICAST_ERROR ->
                throw new Failure(event.status(), "event: " + event.type().text() + ", error: "
                        + event.status() + ": " + event.description(),
                        event.failure("connect"));
            case DEVICE_REMOVAL -> throw new Failure(Failure.RESET, "the device is gone");
            case DISCONNECTED -> {
                event.id().disconnect();
                connectionOf(event).onEnded();
            }
            case ADDR_RESOLVED, ROUTE_RESOLVED, CONNECT_REQUEST, CONNECT_RESPONSE, ESTABLISHED,
                    MULTICAST_JOIN, ADDR_CHANGE, TIMEWAIT_EXIT, ADDRINFO_RESOLVED,
                    ADDRINFO_ERROR, USER, UNKNOWN ->
                handler.onEvent(event);
        }
    }

    // ---------------------------------------------------------------- messages

    /** Sends all messages of all connections, without waiting. */
    void postSends() throws RdmaException {
        for (Connection connection : all) {
            connection.postSends();
        }
    }

    /** Waits until all messages have been sent. */
    void awaitSends() throws IOException {
        for (Connection connection : all) {
            awaitCompletions(connection, true);
        }
    }

    /** Waits until all messages have been received. */
    void awaitReceives() throws IOException {
        for (Connection connection : all) {
            awaitCompletions(connection, false);
        }
    }

    private void awaitCompletions(Connection connection, boolean ofSends) throws IOException {
        CompletionQueue queue = connection.completions(ofSends);
        long latestNs = System.nanoTime();
        for (int done = 0; done < workload.messages();) {
            // Looked at before polling: what arrived before the end is in the queue by then.
            boolean hadEnded = connection.hasEnded();
            int count = queue.poll(batch);
            for (int i = 0; i < count; i++) {
                if (batch[i].status() == WorkCompletionStatus.WORK_REQUEST_FLUSHED) {
                    findCause(connection, ofSends);
                }
                connection.check(batch[i], ofSends);
            }
            done += count;
            if (count > 0) {
                latestNs = System.nanoTime();
                continue;
            }
            String progress = done + " of " + workload.messages() + " messages were "
                    + (ofSends ? "sent" : "received");
            if (hadEnded) {
                throw new Failure(Failure.RESET, "the peer disconnected too early; " + progress);
            }
            if (System.nanoTime() - latestNs > patience.toNanos()) {
                throw new Failure(Failure.TIMED_OUT, "nothing came from the peer for "
                        + patience.toSeconds() + " s; " + progress + refusal());
            }
            CmEvent event = channel.pollEvent(PAUSE);
            if (event != null) {
                dispatch(event);
            }
        }
    }

    /** {@return what this host's system says of packets to the peers, as the end of a sentence} */
    private String refusal() {
        String said = SendRefusals.text(
                all.stream().map(connection -> connection.id().queuePair()).toList(), "");
        return said.isEmpty() ? "" : "; " + said;
    }

    /**
     * Work was flushed, which has a cause: the device has gone, or work of the other queue has failed, such as sends that the
     * peer does not acknowledge. Only otherwise it is the peer's.
     */
    private void findCause(Connection connection, boolean ofSends) throws IOException {
        // A device fails its work before it tells that it is gone.
        CmEvent event = channel.pollEvent(connection.hasEnded() ? PAUSE : CAUSE);
        while (event != null) {
            dispatch(event);
            event = channel.pollEvent(PAUSE);
        }
        checkFailures(connection, !ofSends);
    }

    /** Takes all completions of a queue, and ends the tool if work has failed by itself. */
    private static void checkFailures(Connection connection, boolean ofSends) throws IOException {
        if (!connection.isPrepared()) {
            return;
        }
        WorkCompletion[] one = WorkCompletion.array(1);
        CompletionQueue queue = connection.completions(ofSends);
        while (queue.poll(one) > 0) {
            if (!one[0].isSuccess()
                    && one[0].status() != WorkCompletionStatus.WORK_REQUEST_FLUSHED) {
                connection.check(one[0], ofSends);
            }
        }
    }

    @Override
    public void close() throws RdmaException {
        CmId listening = listener;
        if (listening != null) {
            listening.close();
        }
        for (Connection connection : all) {
            connection.close();
        }
        for (CmId id : refused) {
            id.close();
        }
        channel.close();
    }
}
