// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.perftest;

/**
 * The numbers of outstanding requests.
 *
 * @param isLatency whether latency is measured: then it is one message
 * @param send send requests that may be outstanding
 * @param moderation every how many sends one is signaled; 0 if the user did not say
 * @param list how many sends are posted at once
 * @param queuePairs how many queue pairs
 * @param isBothWays whether both sides send at the same time
 * @param hasPeak whether the best stretch is looked for
 */
record Depths(boolean isLatency, int send, int moderation, int list, int queuePairs,
        boolean isBothWays, boolean hasPeak) {
    /** Of a latency test. */
    static final Depths LATENCY = new Depths(true, 1, 1, 1, 1, false, false);

    /** Receives posted over reliable connections. */
    static final int RECEIVES = 512;
    /** The most receives posted over unreliable services. */
    static final int UNRELIABLE_RECEIVES = 16000;
    /** Every how many sends one is signaled. */
    static final int MODERATION = 100;
    /** Messages of more bytes are all signaled. */
    static final int LONG_MESSAGE = 8192;
    /** The most sends that are posted at once. */
    static final int LONGEST_LIST = 15_000;
    /** The most messages among which the best stretch is looked for: it takes their square. */
    static final int MOST_WITH_PEAK = 20_000;
}
