// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.network.stream;

import io.rdma4j.verbs.Errno;

import java.net.InetSocketAddress;
import java.nio.ByteBuffer;

/** One TCP connection. Only for the thread that drives its network. */
public interface Stream {
    /** The result of {@link #read} and {@link #write} after the end of the stream. */
    int END = -1;

    /** Is notified of the events of a stream, in the thread that drives the network. */
    interface Handler {
        /** The connection is established. */
        void onConnected();

        /**
         * The connection failed, and the stream is closed.
         *
         * @param reason ECONNREFUSED if no program listens there, ETIMEDOUT, EHOSTUNREACH or ENETUNREACH if there is no
         *         answer
         */
        void onRefused(Errno reason);

        /** There are bytes to read, or the end of the stream. Called again until they are read. */
        void onReadable();

        /** {@link #write} accepts more, after it has not accepted all. */
        void onWritable();
    }

    /** Sets the handler of its events, before the network is polled again. */
    void handler(Handler handler);

    /** {@return the address and port of this side} */
    InetSocketAddress local();

    /** {@return those of the other side} */
    InetSocketAddress remote();

    /** Reads received bytes. {@return how many, 0 if there are none now, {@link #END} if none will come} */
    int read(ByteBuffer into);

    /** Writes bytes. {@return how many were accepted, or {@link #END} if the connection is broken} */
    int write(ByteBuffer from);

    /** {@return whether the other side's system has all that was written, true if that cannot be known} */
    boolean isAcknowledged();

    /**
     * Ends the writing: the other side reads the end after the written bytes. Its bytes are still received, until it ends
     * too. Idempotent.
     */
    void finish();

    /**
     * Closes the stream: it reports nothing more. Written bytes still leave, unless the other side sends bytes that are not
     * read. Idempotent.
     */
    void close();

    /** Ends it at once; the other side sees a connection that broke. Idempotent. */
    void reset();
}
