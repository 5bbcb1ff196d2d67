// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets.engine;

import io.rdma4j.sockets.protocol.Mapping;
import io.rdma4j.sockets.protocol.Message;
import io.rdma4j.sockets.protocol.RsocketException;
import io.rdma4j.sockets.protocol.RsocketStream;
import io.rdma4j.sockets.protocol.Transmission;
import io.rdma4j.verbs.CompletionHandler;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.WorkCompletion;
import io.rdma4j.verbs.WorkCompletionStatus;

import java.net.SocketException;
import java.util.Objects;

/** Hands what has completed to the stream of a connection, and posts what follows. Not thread safe: its connection guards it. */
final class ConnectionProgress {
    private final ConnectionState state;
    private final StreamQueue queue;
    private final StreamMemory memory;
    private final User user;
    private final Transmission out = new Transmission();
    private final CompletionHandler handler = this::onCompletion;
    /** The peer has broken the protocol, and is not listened to any more. */
    private boolean hasLied;
    private boolean hasMoved;

    /** Its connection. */
    interface User {
        /** The peer has the answer, whether or not its confirmation has arrived. */
        void onFirstMessage();

        /** Something has changed: who waits may go on, and the connection may be over. */
        void onProgress();

        /** The peer has broken the protocol. It has to learn that there is no connection any more. */
        void onLie();
    }

    ConnectionProgress(ConnectionState state, StreamQueue queue, StreamMemory memory, User user) {
        this.state = state;
        this.queue = queue;
        this.memory = memory;
        this.user = user;
    }

    /** Handles what has completed, posts what follows, and tells of that and of what the caller has changed. */
    void process(boolean isArming) {
        RsocketStream open = state.stream();
        if (open != null && !state.isFreed()) {
            boolean _ = advance(open, isArming);
            user.onProgress();
        }
    }

    /** As {@link #process}, where the caller has changed nothing: those who look again and again mostly find nothing to tell. */
    void look(boolean isArming) {
        RsocketStream open = state.stream();
        if (open != null && !state.isFreed() && advance(open, isArming)) {
            user.onProgress();
        }
    }

    /** {@return whether there was anything to handle or to post} */
    private boolean advance(RsocketStream open, boolean isArming) {
        try {
            if (isArming) {
                queue.requestNotification();
            }
            boolean hadCompletions = queue.poll(handler);
            return transmitOwed(open) || hadCompletions;
        } catch (RdmaException e) {
            state.fail(e);
            return true;
        }
    }

    /** Posts what the stream has to send, where nothing else has changed that anybody waits for. */
    void transmit(RsocketStream open) {
        try {
            boolean _ = transmitOwed(open);
        } catch (RdmaException e) {
            state.fail(e);
            user.onProgress();
        }
    }

    /** {@return whether anything was to be sent} */
    private boolean transmitOwed(RsocketStream open) throws RdmaException {
        boolean isAny = false;
        while (!state.isBroken() && open.pollTransmit(out)) {
            queue.post(out);
            isAny = true;
        }
        return isAny;
    }

    /** Bytes that the application has written are in their place: sends them, now or with others. */
    void send(RsocketStream open, int count, boolean isInline) throws RdmaException {
        if (!open.write(count, isInline, out)) {
            return;
        }
        try {
            queue.post(out);
        } catch (RdmaException e) {
            state.fail(e);
            user.onProgress();
            throw e;
        }
    }

    /** Likewise, to a mapping of the peer. */
    void sendMapped(RsocketStream open, Mapping to, long offset, int count) throws RdmaException {
        open.writeMapped(to, offset, count, out);
        queue.post(out);
    }

    /** {@return whether the peer has shown that it lives since {@link #forgetMoved}} */
    boolean hasMoved() {
        return hasMoved;
    }

    void forgetMoved() {
        hasMoved = false;
    }

    // ---------------------------------------------------------------- what has completed

    private void onCompletion(WorkCompletion completion) throws RdmaException {
        boolean isReceive = StreamQueue.isReceive(completion.id());
        RsocketStream open = Objects.requireNonNull(state.stream());
        if (!completion.isSuccess()) {
            onFailed(open, completion, isReceive);
            return;
        }
        hasMoved = true;
        if (!isReceive) {
            open.onSent(completion.id());
            return;
        }
        int word = queue.nextWord(completion.immediate());
        if (!state.isBroken()) {
            queue.postReceiveAgain();
        }
        // Sends fail once the peer has gone, and what it sent before counts.
        if (!hasLied) {
            onWord(open, word);
        }
    }

    private void onWord(RsocketStream open, int word) {
        if (state.isConnecting()) {
            user.onFirstMessage();
        }
        try {
            if (Message.isCredits(word)) {
                open.onCredits(word, memory.takeSlot(open.nextSlot()));
            } else if (Message.isMapping(word)) {
                open.onMapping(Message.index(word), memory::mapping);
            } else {
                open.onMessage(word);
            }
            if (open.hasPeerDisconnected()) {
                state.onClosedByPeer();
            }
        } catch (RsocketException e) {
            hasLied = true;
            state.fail(e);
            open.onConnectionEnded();
            user.onLie();
        }
    }

    /** {@return what programs print in one line; what may be the cause, and what to look at, is in its own cause} */
    private static SocketException lost(WorkCompletion completion) {
        String detail = completion.detail();
        SocketException why = new SocketException("Connection lost: "
                + (detail == null ? "" : detail + ". ") + completion.status().meaning());
        why.initCause(new RdmaException(Errno.EIO, "complete a request",
                completion.explanation()));
        return why;
    }

    /** After the end, requests fail that nobody needs any more. Receives that fail say nothing. */
    private void onFailed(RsocketStream open, WorkCompletion completion, boolean isReceive) {
        if (isReceive || state.isBroken()) {
            return;
        }
        if (!open.isDisconnected()) {
            boolean isCause = completion.status() != WorkCompletionStatus.WORK_REQUEST_FLUSHED;
            if (isCause) {
                state.fail(lost(completion));
            } else {
                state.reset("Connection reset");
            }
        }
        state.breakOff();
        open.onConnectionEnded();
    }
}
