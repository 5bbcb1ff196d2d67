// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.pingpong;

/** Options of a side beyond the plain exchange; the peer does not notice them. */
enum Feature {
    /** Registers its memory for on-demand paging. */
    ON_DEMAND,
    /** Requests the pages of that memory beforehand. */
    PREFETCH,
    /** Takes the time of completions from the device. */
    TIMESTAMPS,
    /** Exchanges memory of the device instead of the process's. */
    DEVICE_MEMORY,
    /** Posts sends piece by piece. */
    NEW_SEND,
    /** Lets the peer run atomics on its memory. */
    ATOMICS;
}
