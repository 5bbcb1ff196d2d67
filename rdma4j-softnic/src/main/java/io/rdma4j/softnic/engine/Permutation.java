// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.engine;

import java.util.function.IntSupplier;

/**
 * The numbers of so many bits in an order that others cannot guess, however many of them they know: a counter goes through
 * four rounds of a Feistel network with random keys. Thread safe.
 */
public final class Permutation {
    private static final int ROUNDS = 4;

    private final int[] keys = new int[ROUNDS];
    private final int halfBits;
    private final int halfMask;

    /**
     * @param bits an even number, at most 32
     * @param random numbers that others cannot guess
     */
    public Permutation(int bits, IntSupplier random) {
        halfBits = bits / 2;
        halfMask = (1 << halfBits) - 1;
        for (int i = 0; i < ROUNDS; i++) {
            keys[i] = random.getAsInt();
        }
    }

    /** {@return the number at a place of the order} Each comes once in as many places as there are numbers. */
    public int of(int place) {
        int left = place >>> halfBits & halfMask;
        int right = place & halfMask;
        for (int key : keys) {
            int mixed = left ^ mix(right ^ key);
            left = right;
            right = mixed & halfMask;
        }
        return left << halfBits | right;
    }

    /** {@return bits that each depend on all bits of a value} */
    private static int mix(int value) {
        int mixed = (value ^ value >>> 16) * 0x85eb_ca6b;
        mixed = (mixed ^ mixed >>> 13) * 0xc2b2_ae35;
        return mixed ^ mixed >>> 16;
    }
}
