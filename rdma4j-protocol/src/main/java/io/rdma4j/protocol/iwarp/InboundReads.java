// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.protocol.iwarp;

/** READs of the peer whose answers are not sent yet, in order. Bounded by what the sides have agreed on. */
final class InboundReads {
    /** One of them. */
    static final class Read {
        int sourceKey;
        long sourceOffset;
        int sinkKey;
        long sinkOffset;
        long length;
        long sent;
    }

    private Read[] ring = {};
    private int capacity;
    private long first;
    private long end;

    /** Forgets all and sets how many there may be. */
    void reset(int newCapacity) {
        capacity = newCapacity;
        ring = new Read[newCapacity];
        for (int i = 0; i < ring.length; i++) {
            ring[i] = new Read();
        }
        first = 0;
        end = 0;
    }

    boolean isEmpty() {
        return first == end;
    }

    boolean isFull() {
        return end - first >= capacity;
    }

    /** {@return one more, to be filled} There is room. */
    Read add() {
        Read read = ring[(int) (end++ % ring.length)];
        read.sent = 0;
        return read;
    }

    /** {@return the oldest} There is one. */
    Read first() {
        // [RFC 5040 5.2.1-2]
        return ring[(int) (first % ring.length)];
    }

    void removeFirst() {
        first++;
    }
}
