// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.queue;

import io.rdma4j.protocol.work.ReceiveRequest;
import io.rdma4j.verbs.ReceiveWorkRequest;
import io.rdma4j.verbs.ScatterGatherList;

/**
 * Receive requests that wait, each at an index that never repeats. A queue has hundreds of them, and most are alike, so they are
 * columns of numbers.
 *
 * <p>One thread at a time puts. Another may get at the same time what was put before, if it learned of it by a volatile read.
 */
final class ReceiveSlots {
    /** A queue begins with so many, and has twice as many each time they do not suffice. */
    private static final int FIRST = 8;

    private final int count;
    private final int maxElements;
    private final ReceiveColumn ids;
    private final ReceiveColumn elementCounts;
    /** These have {@code maxElements} places for each request. */
    private final ReceiveColumn addresses;
    private final ReceiveColumn lengths;
    private final ReceiveColumn lkeys;

    private ReceiveSlots(int count, int maxElements) {
        this.count = count;
        this.maxElements = maxElements;
        ids = new ReceiveColumn(count);
        elementCounts = new ReceiveColumn(count);
        addresses = new ReceiveColumn(count * maxElements);
        lengths = new ReceiveColumn(count * maxElements);
        lkeys = new ReceiveColumn(count * maxElements);
    }

    /**
     * @param capacity the maximum number of requests, for which {@link #grown} makes room
     * @param maxElements the maximum number of elements of one
     */
    static ReceiveSlots first(int capacity, int maxElements) {
        int powerOfTwo = Integer.highestOneBit(Math.max(1, capacity - 1)) * 2;
        return new ReceiveSlots(Math.min(FIRST, powerOfTwo), maxElements);
    }

    /** {@return how many there is room for} */
    int count() {
        return count;
    }

    /** {@return the same requests, from one index up to another, with twice the room} */
    ReceiveSlots grown(long from, long to) {
        ReceiveSlots grown = new ReceiveSlots(2 * count, maxElements);
        for (long i = from; i < to; i++) {
            int slot = slot(i);
            int target = grown.slot(i);
            int elements = (int) elementCounts.get(slot);
            grown.ids.put(target, ids.get(slot));
            grown.elementCounts.put(target, elements);
            for (int element = 0; element < elements; element++) {
                int place = slot * maxElements + element;
                grown.putElement(target * maxElements + element, addresses.get(place),
                        lengths.get(place), (int) lkeys.get(place));
            }
        }
        return grown;
    }

    void put(long index, ReceiveWorkRequest request) {
        int slot = slot(index);
        ScatterGatherList elements = request.elements();
        ids.put(slot, request.id());
        elementCounts.put(slot, elements.count());
        for (int i = 0; i < elements.count(); i++) {
            putElement(slot * maxElements + i, elements.address(i), elements.length(i),
                    elements.lkey(i));
        }
    }

    private void putElement(int place, long address, long length, int lkey) {
        addresses.put(place, address);
        lengths.put(place, length);
        lkeys.put(place, lkey);
    }

    void get(long index, ReceiveRequest into) {
        int slot = slot(index);
        into.begin(ids.get(slot));
        int first = slot * maxElements;
        int end = first + (int) elementCounts.get(slot);
        for (int place = first; place < end; place++) {
            into.add(addresses.get(place), lengths.get(place), (int) lkeys.get(place));
        }
    }

    private int slot(long index) {
        return (int) index & count - 1;
    }
}
