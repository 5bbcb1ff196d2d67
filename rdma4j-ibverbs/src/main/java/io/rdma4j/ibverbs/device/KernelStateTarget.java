// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.ibverbs.device;

import io.rdma4j.verbs.QueuePairState;

/** A queue pair whose state the kernel's connection manager changes. */
public interface KernelStateTarget {
    /** The kernel has moved it to a state. */
    void onKernelState(QueuePairState state);
}
