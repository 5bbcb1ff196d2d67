// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.protocol.work;

import io.rdma4j.verbs.ScatterGatherList;

/** The memory of a request, copied from the caller's when it was posted. */
final class ElementList {
    final long[] addresses;
    final long[] lengths;
    final int[] lkeys;
    int count;
    long totalLength;

    ElementList(int capacity) {
        addresses = new long[capacity];
        lengths = new long[capacity];
        lkeys = new int[capacity];
    }

    void assign(ScatterGatherList from) {
        count = from.count();
        totalLength = from.totalLength();
        for (int i = 0; i < count; i++) {
            addresses[i] = from.address(i);
            lengths[i] = from.length(i);
            lkeys[i] = from.lkey(i);
        }
    }

    void clear() {
        count = 0;
        totalLength = 0;
    }

    void add(long address, long length, int lkey) {
        addresses[count] = address;
        lengths[count] = length;
        lkeys[count] = lkey;
        count++;
        totalLength += length;
    }
}
