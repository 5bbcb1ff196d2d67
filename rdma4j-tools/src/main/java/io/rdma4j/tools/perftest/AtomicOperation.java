// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.perftest;

/** Which atomic operation is measured. */
enum AtomicOperation {
    /** Compares and swaps. */
    CMP_AND_SWAP,
    /** Fetches and adds. */
    FETCH_AND_ADD;

    /** {@return the word in the title} */
    String title() {
        return switch (this) {
            case CMP_AND_SWAP -> "Compare_Swap";
            case FETCH_AND_ADD -> "Fetch_Add";
        };
    }
}
