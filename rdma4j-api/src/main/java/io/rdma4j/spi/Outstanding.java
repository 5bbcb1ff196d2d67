// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.spi;

/** What is outstanding of the requests that complete into a queue. */
public enum Outstanding {
    /** None. */
    NOTHING,
    /** Only sends that were posted unsignaled: they complete only if they fail. */
    UNSIGNALED,
    /** At least one that will complete, or it is not known. */
    COMPLETING
}
