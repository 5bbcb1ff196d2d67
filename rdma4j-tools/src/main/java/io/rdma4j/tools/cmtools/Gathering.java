package io.rdma4j.tools.cmtools;

import io.rdma4j.cm.CmEvent;
import io.rdma4j.cm.CmId;
import io.rdma4j.cm.EventChannel;
import io.rdma4j.connection.PortSpace;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.WorkCompletion;
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
 * <p>Whoever waits, for events or for completions, handles the events of all: a failure of one connection
 * ends every wait.
 */
final class Gathering implements AutoCloseable {
    /** What a tool does when something happened to a connection. */
    @FunctionalInterface
    interface Handler {
        /**
         * Takes a step.
         *
         * @param event not a failure, which ends the tool, nor an end of a connection, which is noted
         */
        void onEvent(CmEvent event) throws IOException;
    }

    private static final int BATCH = 8;
    /** How long to leave the completion queue alone when it is empty. */
    private static final Duration PAUSE = Duration.ofMillis(1);

    private final Load load;
    private final Duration patience;
    private final Handler handler;
    private final List<Node> nodes = new ArrayList<>();
    private final List<CmId> refused = new ArrayList<>();
    private final WorkCompletion[] batch = WorkCompletion.array(BATCH);
    private EventChannel channel = EventChannel.create();
    private @Nullable CmId listener;

    Gathering(Load load, Duration patience, Handler handler) {
        this.load = load;
        this.patience = patience;
        this.handler = handler;
    }

    List<Node> nodes() {
        return nodes;
    }

    private long count(Predicate<Node> which) {
        return nodes.stream().filter(which).count();
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
        for (int i = 0; i < load.connections(); i++) {
            add(CmId.create(channel, space));
        }
    }

    private Node add(CmId id) {
        Node node = new Node(id, load);
        nodes.add(node);
        return node;
    }

    /** {@return the connection a request is for, or null if there are enough, so that it is rejected} */
    @Nullable
    Node take(CmId request) throws RdmaException {
        if (nodes.size() < load.connections()) {
            return add(request);
        }
        request.reject(new byte[0]);
        refused.add(request);
        return null;
    }

    /** {@return the connection of an event} */
    static Node nodeOf(CmEvent event) {
        if (event.id().userContext() instanceof Node node) {
            return node;
        }
        throw new IllegalStateException(event + " of no connection");
    }

    /** Moves everything to a new channel. */
    void migrate() throws RdmaException {
        EventChannel fresh = EventChannel.create();
        CmId listening = listener;
        if (listening != null) {
            listening.migrate(fresh);
        }
        for (Node node : nodes) {
            node.id().migrate(fresh);
        }
        channel.close();
        channel = fresh;
    }

    // ---------------------------------------------------------------- waiting for events

    /** Waits for all connections; the first of a server may take for ever. */
    void awaitConnected() throws IOException {
        awaitAll(Node::isConnected, "connected");
    }

    /** Waits until the ends of all connections have been told. */
    void awaitEnded() throws IOException {
        awaitAll(Node::hasEnded, "disconnected");
    }

    private void awaitAll(Predicate<Node> which, String done) throws IOException {
        await(() -> count(which) == load.connections(), () -> count(which) + " of "
                + load.connections() + " connections are " + done);
    }

    /** Says how far something has come. */
    @FunctionalInterface
    private interface Progress {
        String text();
    }

    private void await(BooleanSupplier isDone, Progress progress) throws IOException {
        while (!isDone.getAsBoolean()) {
            CmEvent event = nodes.isEmpty() ? channel.awaitEvent() : channel.pollEvent(patience);
            if (event == null) {
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
                        + event.status() + ": " + event.description());
            case DEVICE_REMOVAL -> throw new Failure(Failure.RESET, "the device is gone");
            case DISCONNECTED -> {
                event.id().disconnect();
                nodeOf(event).onEnded();
            }
            case ADDR_RESOLVED, ROUTE_RESOLVED, CONNECT_REQUEST, CONNECT_RESPONSE, ESTABLISHED,
                    MULTICAST_JOIN, ADDR_CHANGE, TIMEWAIT_EXIT, ADDRINFO_RESOLVED,
                    ADDRINFO_ERROR, USER, INTERNAL ->
                handler.onEvent(event);
        }
    }

    // ---------------------------------------------------------------- messages

    /** Sends all messages of all connections, without waiting. */
    void postSends() throws RdmaException {
        for (Node node : nodes) {
            node.postSends();
        }
    }

    /** Waits until all messages have been sent. */
    void awaitSends() throws IOException {
        for (Node node : nodes) {
            awaitCompletions(node, true);
        }
    }

    /** Waits until all messages have been received. */
    void awaitReceives() throws IOException {
        for (Node node : nodes) {
            awaitCompletions(node, false);
        }
    }

    private void awaitCompletions(Node node, boolean ofSends) throws IOException {
        CompletionQueue queue = node.completions(ofSends);
        long latestNs = System.nanoTime();
        for (int done = 0; done < load.messages();) {
            // Looked at before polling: what arrived before the end is in the queue by then.
            boolean hadEnded = node.hasEnded();
            int count = queue.poll(batch);
            for (int i = 0; i < count; i++) {
                node.check(batch[i], ofSends);
            }
            done += count;
            if (count > 0) {
                latestNs = System.nanoTime();
                continue;
            }
            String progress = done + " of " + load.messages() + " messages were "
                    + (ofSends ? "sent" : "received");
            if (hadEnded) {
                throw new Failure(Failure.RESET, "the peer disconnected too early; " + progress);
            }
            if (System.nanoTime() - latestNs > patience.toNanos()) {
                throw new Failure(Failure.TIMED_OUT, "nothing came from the peer for "
                        + patience.toSeconds() + " s; " + progress);
            }
            CmEvent event = channel.pollEvent(PAUSE);
            if (event != null) {
                dispatch(event);
            }
        }
    }

    @Override
    public void close() throws RdmaException {
        CmId listening = listener;
        if (listening != null) {
            listening.close();
        }
        for (Node node : nodes) {
            node.close();
        }
        for (CmId id : refused) {
            id.close();
        }
        channel.close();
    }
}
