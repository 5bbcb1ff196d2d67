// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets.engine;

import io.rdma4j.sockets.protocol.RsocketStream;
import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.net.SocketException;

/** How far a connection is, why it has failed, and what its application can do therefore. Not thread safe: its connection guards it. */
final class ConnectionState {
    private enum Phase {
        CONNECTING, ESTABLISHED, FREED
    }

    private Phase phase = Phase.CONNECTING;
    private @Nullable RsocketStream stream;
    private @Nullable IOException failure;
    /** Nothing can be sent or will come any more. */
    private boolean isBroken;
    /** The peer has reset it. */
    private boolean wasReset;
    /** A read has thrown why it has failed. */
    private boolean isFailureRead;
    private boolean isClosing;
    /** The application has ended its output, or has written once since the peer has closed. */
    private boolean isOutputOver;

    // ---------------------------------------------------------------- how far it is

    boolean isConnecting() {
        return phase == Phase.CONNECTING;
    }

    boolean isEstablished() {
        return phase == Phase.ESTABLISHED;
    }

    boolean isFreed() {
        return phase == Phase.FREED;
    }

    /** {@return the stream, null before the peer's data are known} */
    @Nullable
    RsocketStream stream() {
        return stream;
    }

    /** The peer's data are known. */
    void begin(RsocketStream begun) {
        stream = begun;
    }

    void establish() {
        phase = Phase.ESTABLISHED;
    }

    /** The application has closed it. */
    void close() {
        isClosing = true;
    }

    boolean isClosing() {
        return isClosing;
    }

    /** Nothing can be read or written any more, as its memory goes. */
    void free() {
        phase = Phase.FREED;
        RsocketStream open = stream;
        if (open != null) {
            open.onConnectionEnded();
            open.shutdownInput();
        }
    }

    // ---------------------------------------------------------------- why it has failed

    boolean isBroken() {
        return isBroken;
    }

    /** Nothing can be sent or will come any more; why that is may be known already. */
    void breakOff() {
        isBroken = true;
    }

    /** It has failed, for this reason unless there was one before. */
    void fail(IOException why) {
        if (failure == null) {
            failure = why;
        }
        isBroken = true;
    }

    /** The peer has reset it, unless it has failed before. */
    void reset(String message) {
        wasReset |= failure == null;
        fail(new SocketException(message));
    }

    /** It was never established, for this reason whatever was before. */
    void refuse(IOException why) {
        failure = why;
        isBroken = true;
    }

    /** The peer has closed it. If a send has failed first, that was why. */
    void onClosedByPeer() {
        if (failure instanceof SocketException) {
            failure = null;
        }
    }

    @Nullable
    IOException failure() {
        return failure;
    }

    // ---------------------------------------------------------------- what the application can do

    /** {@return whether a read does not wait} */
    boolean isReadable() {
        RsocketStream open = stream;
        return isClosing || isBroken || open == null || open.readable() > 0
                || open.isInputEnded();
    }

    /** {@return whether a write does not wait} */
    boolean isWritable() {
        RsocketStream open = stream;
        return isClosing || isBroken || open == null || open.isOutputEnded()
                || open.isRoomy();
    }

    /** {@return whether a write to a mapping does not wait} */
    boolean isMappedWritable() {
        RsocketStream open = stream;
        return isClosing || isBroken || open == null || open.isOutputEnded()
                || open.hasMappedRoom();
    }

    RsocketStream requireOpen() throws IOException {
        RsocketStream open = stream;
        if (open == null) {
            throwFailure();
            throw new SocketException("Socket is not connected");
        }
        return open;
    }

    /** The application writes nothing more. */
    void endOutput() {
        isOutputOver = true;
    }

    /**
     * {@return whether a write succeeds though nobody gets it} The first one after the peer has closed, as over TCP, where only its answer says
     * that nobody is there: a program that says good-bye reads then why the peer has closed. One of no bytes asks nobody, and does not count.
     */
    boolean takesInVain(RsocketStream open, long bytes) {
        boolean isVain = failure == null && !isClosing && !isOutputOver
                && open.hasPeerDisconnected();
        isOutputOver |= isVain && bytes > 0;
        return isVain;
    }

    void requireOutput(RsocketStream open) throws IOException {
        if (isBroken || open.isOutputEnded()) {
            throwFailure();
            throw new IOException("Broken pipe");
        }
    }

    /**
     * Throws why nothing more can be read, if it has failed. Only once, as over TCP, where that ends the input: there are programs that go on to read, and close at the end. But a
     * reset is thrown each time, as the JDK does.
     */
    void throwToReader() throws IOException {
        if (failure != null && (wasReset || !isFailureRead)) {
            isFailureRead = true;
            throwFailure();
        }
    }

    void throwFailure() throws IOException {
        IOException why = failure;
        if (why instanceof SocketException) {
            SocketException again = new SocketException(why.getMessage());
            again.initCause(why);
            throw again;
        }
        if (why != null) {
            throw new IOException(why.getMessage(), why);
        }
    }
}
