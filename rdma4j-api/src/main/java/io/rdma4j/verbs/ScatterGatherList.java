// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.verbs;

import java.util.Arrays;

/**
 * The memory of a work request, element by element.
 *
 * <p>C: {@code sg_list} and {@code num_sge}. Reusable: clearing and refilling allocates nothing once
 * it has grown. Not thread safe.
 *
 * @since 0.1.0
 */
public final class ScatterGatherList {
    private long[] addresses = new long[1];
    private long[] lengths = new long[1];
    private int[] lkeys = new int[1];
    private int count;
    private long totalLength;

    /** Creates an empty list. */
    public ScatterGatherList() {}

    /** {@return the number of elements} */
    public int count() {
        return count;
    }

    /** {@return the bytes of all elements together} */
    public long totalLength() {
        return totalLength;
    }

    /**
     * {@return the address of an element}
     *
     * @param index from 0
     */
    public long address(int index) {
        if (index >= count) {
            throw outside(index);
        }
        return addresses[index];
    }

    /**
     * {@return the bytes of an element}
     *
     * @param index from 0
     */
    public long length(int index) {
        if (index >= count) {
            throw outside(index);
        }
        return lengths[index];
    }

    /**
     * {@return the local key of an element}
     *
     * @param index from 0
     */
    public int lkey(int index) {
        if (index >= count) {
            throw outside(index);
        }
        return lkeys[index];
    }

    /**
     * Appends an element.
     *
     * @param address of the first byte
     * @param length in bytes
     * @param lkey the key of this side's memory
     * @throws IllegalArgumentException if the length is negative, or all lengths together exceed
     *         {@link Long#MAX_VALUE}; nothing is appended
     */
    public void add(long address, long length, int lkey) {
        if (length < 0) {
            throw new IllegalArgumentException("an element cannot have " + length + " bytes");
        }
        if (length > Long.MAX_VALUE - totalLength) {
            throw new IllegalArgumentException("an element of " + length + " bytes after "
                    + totalLength + " bytes makes more than " + Long.MAX_VALUE + " together");
        }
        if (count == addresses.length) {
            addresses = Arrays.copyOf(addresses, 2 * count);
            lengths = Arrays.copyOf(lengths, 2 * count);
            lkeys = Arrays.copyOf(lkeys, 2 * count);
        }
        addresses[count] = address;
        lengths[count] = length;
        lkeys[count] = lkey;
        count++;
        totalLength += length;
    }

    /** Removes all elements. */
    public void clear() {
        count = 0;
        totalLength = 0;
    }

    /**
     * Makes this list equal to another.
     *
     * @param other what is copied
     */
    public void assign(ScatterGatherList other) {
        clear();
        for (int i = 0; i < other.count; i++) {
            add(other.addresses[i], other.lengths[i], other.lkeys[i]);
        }
    }

    private IndexOutOfBoundsException outside(int index) {
        return new IndexOutOfBoundsException("element " + index + " of " + count);
    }
}
