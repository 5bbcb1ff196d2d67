// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.ibverbs.device;

import io.rdma4j.verbs.AsyncEventType;

/** An object that asynchronous events of the library are about. */
public interface AsyncEventTarget {
    /** An event is about it. */
    void onAsyncEvent(AsyncEventType type);
}
