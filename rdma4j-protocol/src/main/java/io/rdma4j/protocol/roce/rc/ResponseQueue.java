// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.protocol.roce.rc;

import org.jspecify.annotations.Nullable;

import java.util.Arrays;

/**
 * READ and atomic responses to send, in order, and the results of atomics that may be repeated.
 *
 * <p>A repeated READ is carried out again; a repeated atomic must not be, so its result is kept (IBTA
 * 9.7.5.1.1, 9.4.5).
 */
final class ResponseQueue {
    /** What a response consists of. */
    enum Kind {
        /** Memory, packet by packet. */
        READ,
        /** The value before an atomic operation. */
        ATOMIC,
        /** Only the completion of a FLUSH or an atomic write. */
        DONE
    }

    /** One response: a READ has an address, an atomic a value. */
    static final class Response {
        Kind kind = Kind.READ;
        boolean isReplay;
        long firstPsn;
        long endPsn;
        long nextPsn;
        long messageNumber;
        long address;
        int rkey;
        long length;
        long value;
    }

    private @Nullable Response[] ring = {};
    private int head;
    private int count;
    private int originals;

    private long[] atomicPsns = {};
    private long[] atomicValues = {};
    private int atomicCount;
    private int atomicNext;

    /** Forgets all and sets how many original requests may wait. */
    void reset(int capacity) {
        int slots = Math.max(2, 2 * capacity);
        if (ring.length != slots) {
            ring = new Response[slots];
        }
        if (atomicPsns.length != capacity) {
            atomicPsns = new long[capacity];
            atomicValues = new long[capacity];
        }
        head = 0;
        count = 0;
        originals = 0;
        atomicCount = 0;
        atomicNext = 0;
    }

    /** Makes room for more original requests; what waits and what is kept stays. */
    void grow(int capacity) {
        int slots = 2 * capacity;
        if (slots > ring.length) {
            @Nullable
            Response[] larger = new Response[slots];
            for (int i = 0; i < count; i++) {
                larger[i] = ring[(head + i) % ring.length];
            }
            ring = larger;
            head = 0;
        }
        if (capacity > atomicPsns.length) {
            // New room is used up before anything is replaced.
            atomicNext = atomicCount;
            atomicPsns = Arrays.copyOf(atomicPsns, capacity);
            atomicValues = Arrays.copyOf(atomicValues, capacity);
        }
    }

    boolean isEmpty() {
        return count == 0;
    }

    boolean isFull() {
        return count == ring.length;
    }

    /** {@return originals that wait} */
    int originals() {
        return originals;
    }

    /** Appends a response to be filled in; the queue is not full. */
    Response add(boolean isReplay) {
        int tail = (head + count) % ring.length;
        Response response = ring[tail];
        if (response == null) {
            response = new Response();
            ring[tail] = response;
        }
        count++;
        originals += isReplay ? 0 : 1;
        response.isReplay = isReplay;
        return response;
    }

    Response head() {
        Response response = ring[head];
        if (response == null || count == 0) {
            throw new IllegalStateException("no response waits");
        }
        return response;
    }

    void removeHead() {
        originals -= head().isReplay ? 0 : 1;
        head = (head + 1) % ring.length;
        count--;
    }

    void clear() {
        count = 0;
        originals = 0;
    }

    /** {@return whether a packet of a READ response is still going to be sent} */
    boolean isPending(long psn) {
        for (int i = 0; i < count; i++) {
            Response response = ring[(head + i) % ring.length];
            if (response != null && response.nextPsn <= psn && psn < response.endPsn) {
                return true;
            }
        }
        return false;
    }

    /** Keeps the result of an atomic in place of the oldest kept. */
    void keepAtomic(long psn, long value) {
        if (atomicNext == atomicPsns.length) {
            atomicNext = 0;
        }
        atomicPsns[atomicNext] = psn;
        atomicValues[atomicNext] = value;
        atomicNext++;
        atomicCount = Math.max(atomicCount, atomicNext);
    }

    /** {@return the index of a kept atomic's result, -1 if it is not kept} */
    int findAtomic(long psn) {
        for (int i = 0; i < atomicCount; i++) {
            if (atomicPsns[i] == psn) {
                return i;
            }
        }
        return -1;
    }

    long atomicValue(int index) {
        return atomicValues[index];
    }
}
