// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.queue;

import org.jspecify.annotations.Nullable;

/**
 * One number of each of many requests. While they are all the same, as keys and lengths often are, there is one; otherwise they are
 * kept by how they differ from the first, in 16 bits if that suffices.
 *
 * <p>Threads as with {@link ReceiveSlots}.
 */
final class ReceiveColumn {
    private final int count;
    /** Whether all that was put is {@code first}. Of the thread that puts. */
    private boolean isUniform;
    private boolean isEmpty = true;
    private long first;
    private volatile short @Nullable [] differences;
    private volatile long @Nullable [] values;

    /** @param count the number of places */
    ReceiveColumn(int count) {
        this.count = count;
    }

    void put(int place, long value) {
        if (isUniform && value == first) {
            return;
        }
        if (isEmpty) {
            isEmpty = false;
            isUniform = true;
            first = value;
            return;
        }
        isUniform = false;
        long[] whole = values;
        if (whole != null) {
            whole[place] = value;
            return;
        }
        long difference = value - first;
        short[] near = differences;
        if ((short) difference != difference) {
            putFar(place, value, near);
        } else if (near != null) {
            near[place] = (short) difference;
        } else if (difference != 0) {
            near = new short[count];
            near[place] = (short) difference;
            differences = near;
        }
    }

    private void putFar(int place, long value, short @Nullable [] near) {
        long[] whole = new long[count];
        for (int i = 0; i < count; i++) {
            whole[i] = near == null ? first : first + near[i];
        }
        whole[place] = value;
        values = whole;
    }

    /** {@return what was put there} */
    long get(int place) {
        long[] whole = values;
        if (whole != null) {
            return whole[place];
        }
        short[] near = differences;
        return near == null ? first : first + near[place];
    }
}
