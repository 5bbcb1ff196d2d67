// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.engine;

import java.util.ArrayList;
import java.util.List;
import java.util.function.IntSupplier;

/**
 * Numbers for queue pairs: all of 24 bits, or all of 16 bits after each prefix, in an order that others cannot guess. No
 * number comes again before as many others as there are behind one prefix. Several devices may share them.
 *
 * <p>A number must rest after its queue pair was closed: late packets of the old one may still come, and a peer that still
 * waits for them (time-wait) takes a new connection of the same number for a stale one. Sources: IBTA 9.7.1 and 12.9.8.
 * Random numbers repeat too soon: among the 2,000 that a device with 1,000 connections a second lets rest, one new
 * connection in 8,000 would meet its number.
 *
 * <p>Thread safe.
 */
public final class QueuePairNumbers {
    private static final int BITS = 24;
    private static final int BITS_BEHIND_PREFIX = 16;

    /** Those below are for management, as in Linux. */
    private static final int FIRST = 16;
    /** The destination of datagrams to a multicast group. Source: IBTA 9.2. */
    private static final int MULTICAST = 0xff_ffff;

    private final int bits;
    private final Permutation order;
    private final List<Integer> prefixes = new ArrayList<>();
    private int counter;
    private int inUse;

    private QueuePairNumbers(IntSupplier random, int bits) {
        this.bits = bits;
        order = new Permutation(bits, random);
    }

    /**
     * {@return all numbers}
     *
     * @param random numbers that others cannot guess
     */
    public static QueuePairNumbers all(IntSupplier random) {
        QueuePairNumbers numbers = new QueuePairNumbers(random, BITS);
        numbers.prefixes.add(0);
        return numbers;
    }

    /**
     * {@return the numbers that begin with 8 bits, and with others that are added later}
     *
     * @param prefix these bits
     * @param random numbers that others cannot guess
     */
    public static QueuePairNumbers behind(int prefix, IntSupplier random) {
        QueuePairNumbers numbers = new QueuePairNumbers(random, BITS_BEHIND_PREFIX);
        numbers.add(prefix);
        return numbers;
    }

    /** Adds the numbers of another prefix. */
    public synchronized void add(int prefix) {
        prefixes.add(prefix << BITS_BEHIND_PREFIX);
    }

    /** {@return whether most numbers are in use, so that a freed number would be reused too soon} */
    public synchronized boolean isShort() {
        return inUse >= count() / 4 * 3;
    }

    /** {@return how many numbers there are, including reserved ones} */
    synchronized int count() {
        return prefixes.size() << bits;
    }

    /** A queue pair has got a number. */
    synchronized void taken() {
        inUse++;
    }

    /** A queue pair with a number has been closed. */
    synchronized void returned() {
        inUse--;
    }

    /** {@return whether a number is no queue pair's that applications create} */
    static boolean isReserved(int number) {
        return number < FIRST || number == MULTICAST;
    }

    /** {@return the next number, of 24 bits} */
    synchronized int next() {
        int prefix = prefixes.get((counter >>> bits) % prefixes.size());
        return prefix | order.of(counter++);
    }
}
