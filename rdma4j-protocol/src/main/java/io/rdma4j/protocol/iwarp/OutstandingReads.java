// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.protocol.iwarp;

/** READs of this side whose answers have not come, in order. They are answered in that order. */
final class OutstandingReads {
    /** One READ request on the wire: a request of the application has one for each of its elements. */
    static final class Read {
        /** The index of the application's request, or {@link #NO_REQUEST}. */
        long request;
        /** Where its bytes belong in the application's message. */
        long messageOffset;
        int sinkKey;
        long sinkOffset;
        long length;
        long received;
    }

    /** Of a READ that belongs to no request. */
    static final long NO_REQUEST = -1;

    private Read[] ring = {};
    private long first;
    private long end;

    /** Forgets all and sets how many there may be. */
    void reset(int capacity) {
        // One more for the READ that no request asked for.
        ring = new Read[capacity + 1];
        for (int i = 0; i < ring.length; i++) {
            ring[i] = new Read();
        }
        first = 0;
        end = 0;
    }

    int count() {
        return (int) (end - first);
    }

    /** {@return one more, to be filled} There is room. */
    Read add() {
        Read read = ring[(int) (end++ % ring.length)];
        read.received = 0;
        return read;
    }

    /** {@return the oldest} There is one. */
    Read first() {
        return ring[(int) (first % ring.length)];
    }

    /** {@return the one so far behind the oldest} */
    Read get(int index) {
        return ring[(int) ((first + index) % ring.length)];
    }

    void removeFirst() {
        first++;
    }
}
