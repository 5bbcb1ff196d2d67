// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.protocol.work;

/** How writing mapped memory to its file has ended. */
public enum FlushOutcome {
    /** It is in the file. */
    DONE,
    /** The memory is gone: its arena was closed. */
    MEMORY_GONE,
    /** The system could not write it. */
    FAILED
}
