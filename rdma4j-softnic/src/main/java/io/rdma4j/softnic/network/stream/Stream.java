package io.rdma4j.softnic.network.stream;

import io.rdma4j.verbs.Errno;

import java.net.InetSocketAddress;
import java.nio.ByteBuffer;

/** One TCP connection. Only for the thread that drives its network. */
public interface Stream {
    /** What {@link #read} and {@link #write} return when there is nothing more to come, or to be taken. */
    int END = -1;

    /** Is notified of what happens to a stream, in the thread that drives the network. */
    interface Handler {
        /** The connection that was asked for stands. */
        void onConnected();

        /**
         * It does not, and the stream is closed.
         *
         * @param reason ECONNREFUSED if no program listens there, ETIMEDOUT, EHOSTUNREACH or ENETUNREACH if nobody answers
         */
        void onRefused(Errno reason);

        /** There is something to read, or the end. Called again as long as it is not read. */
        void onReadable();

        /** After {@link #write} has not taken all: it takes more now. */
        void onWritable();
    }

    /** Sets the handler of its events, before the network is polled again. */
    void handler(Handler handler);

    /** {@return the address and port of this side} */
    InetSocketAddress local();

    /** {@return those of the other side} */
    InetSocketAddress remote();

    /** Takes what has arrived. {@return how many bytes, 0 if there are none now, {@link #END} if none will come} */
    int read(ByteBuffer into);

    /** Gives bytes away to be sent. {@return how many were taken, or {@link #END} if the connection is broken} */
    int write(ByteBuffer from);

    /** {@return whether the other side's system has all that was written, true if that cannot be known} */
    boolean isAcknowledged();

    /**
     * Says that nothing more is written: the other side reads the end behind what was. What comes from there is still told, until
     * its own end. Idempotent.
     */
    void finish();

    /**
     * Lets go of it: nothing more is heard of it, and what was written still leaves, unless the other side sends something that
     * nobody reads. Idempotent.
     */
    void close();

    /** Ends it at once; the other side sees a connection that broke. Idempotent. */
    void reset();
}
