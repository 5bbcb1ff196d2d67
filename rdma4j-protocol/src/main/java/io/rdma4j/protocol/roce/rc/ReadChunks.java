// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.protocol.roce.rc;

/**
 * The READ and atomic requests that are outstanding on the wire, oldest first, each as the range of
 * PSNs of its response.
 *
 * <p>A long READ is sent as several requests, so that their responses fit the window. A request that is
 * sent again keeps its end: a responder may refuse a repeated READ that reaches beyond the original
 * (IBTA 9.7.5.1.2).
 */
final class ReadChunks {
    private long[] starts = {};
    private long[] ends = {};
    private int head;
    private int count;
    private int limit;

    /** Forgets all and sets how many there may be. */
    void reset(int capacity) {
        if (starts.length != capacity) {
            starts = new long[capacity];
            ends = new long[capacity];
        }
        head = 0;
        count = 0;
        limit = capacity;
    }

    /** Changes how many there may be; what is on the wire stays. */
    void resize(int capacity) {
        int room = Math.max(capacity, count);
        long[] newStarts = new long[room];
        long[] newEnds = new long[room];
        for (int i = 0; i < count; i++) {
            int at = (head + i) % starts.length;
            newStarts[i] = starts[at];
            newEnds[i] = ends[at];
        }
        starts = newStarts;
        ends = newEnds;
        head = 0;
        limit = capacity;
    }

    boolean isEmpty() {
        return count == 0;
    }

    boolean isFull() {
        return count >= limit;
    }

    int capacity() {
        return limit;
    }

    void add(long start, long end) {
        int tail = (head + count) % starts.length;
        starts[tail] = start;
        ends[tail] = end;
        count++;
    }

    /** Drops those that are answered. */
    void prune(long una) {
        while (count > 0 && ends[head] <= una) {
            head = (head + 1) % starts.length;
            count--;
        }
    }

    /** {@return the end of the request that asked for a packet} */
    long endOf(long psn) {
        return ends[indexOf(psn)];
    }

    /** {@return whether a packet is not the first that its request asked for} */
    boolean isBegun(long psn) {
        return starts[indexOf(psn)] < psn;
    }

    private int indexOf(long psn) {
        for (int i = 0; i < count; i++) {
            int at = (head + i) % starts.length;
            if (starts[at] <= psn && psn < ends[at]) {
                return at;
            }
        }
        throw new IllegalStateException("no READ asked for packet " + psn);
    }
}
