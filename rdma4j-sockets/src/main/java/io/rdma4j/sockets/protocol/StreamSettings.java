// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets.protocol;

/**
 * What one side of a stream has.
 *
 * @param sends how many requests its send queue holds
 * @param credits how many messages it can receive before it gives more; its receive queue holds {@link #receives}
 * @param inlineBytes how many bytes a request can carry by itself; at least {@value #LEAST_INLINE}
 * @param sendBytes the size of its send buffer
 * @param receiveBytes the size of its receive buffer, which has two halves of the same size
 * @param mappings how many mappings of the peer it keeps
 * @param hasImmediates whether a WRITE carries the word of a message; otherwise a SEND follows it
 */
public record StreamSettings(int sends, int credits, int inlineBytes, int sendBytes,
        int receiveBytes, int mappings, boolean hasImmediates) {
    /** Room for the ranges and mappings that are sent. */
    public static final int LEAST_INLINE = Mapping.BYTES;
    /** The least there can be of sends and of credits. C: {@code RS_QP_MIN_SIZE}. */
    public static final int LEAST_DEPTH = 16;
    /** The most there can be of sends and of credits. C: {@code RS_QP_MAX_SIZE}. */
    public static final int MOST_DEPTH = 0xfffe;
    /** The least size of a buffer. */
    public static final int LEAST_BYTES = 2 * StreamSender.LOW_WATER;
    /** The largest size of a buffer. */
    public static final int MOST_BYTES = Message.MAX_DATA;
    /** The most mappings that can be kept. */
    public static final int MOST_MAPPINGS = ConnectionData.MAX_MAPPINGS;
    /** Messages of the peer's that need no credit and may be on their way at once. C: {@code RS_QP_CTRL_SIZE}. */
    static final int CONTROLS = 4;
    /** How many more receives there are than credits. */
    public static final int UNCREDITED = 2 * CONTROLS;

    /** Checks the sizes. */
    public StreamSettings {
        requireDepth("a send queue", sends);
        requireDepth("a receive queue", credits);
        if (inlineBytes < LEAST_INLINE) {
            throw new IllegalArgumentException("inline data must have room for " + LEAST_INLINE
                    + " bytes, not only " + inlineBytes);
        }
        requireBytes("a send buffer", sendBytes);
        requireBytes("a receive buffer", receiveBytes);
        if (receiveBytes % 2 != 0) {
            throw new IllegalArgumentException(
                    "a receive buffer of " + receiveBytes + " bytes has no two halves");
        }
        mappings = ConnectionData.announced(mappings);
    }

    private static void requireDepth(String what, int depth) {
        if (depth < LEAST_DEPTH || depth > MOST_DEPTH) {
            throw new IllegalArgumentException(what + " must have room for " + LEAST_DEPTH + " to "
                    + MOST_DEPTH + " requests, not " + depth);
        }
    }

    private static void requireBytes(String what, int bytes) {
        if (bytes < LEAST_BYTES || bytes > MOST_BYTES) {
            throw new IllegalArgumentException(what + " must have " + LEAST_BYTES + " to "
                    + MOST_BYTES + " bytes, not " + bytes);
        }
    }

    /** {@return how many requests of the send queue a message with bytes or a range takes} */
    int requestsOfMessage() {
        return hasImmediates ? 1 : 2;
    }

    /**
     * {@return how many receives must be posted} Messages that need no credit take receives as well. A RoCE device would
     * repeat a message that finds none, an iWARP device would end the connection.
     */
    public int receives() {
        return credits + UNCREDITED;
    }
}
