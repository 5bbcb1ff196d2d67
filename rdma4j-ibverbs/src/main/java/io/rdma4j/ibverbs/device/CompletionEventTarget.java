// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.ibverbs.device;

/** A completion queue, as the thread sees it that reads the library's events. */
public interface CompletionEventTarget extends AsyncEventTarget {
    /** The library reports a completion in it. */
    void onEvent();
}
