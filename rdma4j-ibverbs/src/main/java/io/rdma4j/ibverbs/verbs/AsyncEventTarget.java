// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.ibverbs.verbs;

import io.rdma4j.verbs.AsyncEventType;

/** An object that asynchronous events of the library are about. */
interface AsyncEventTarget {
    /** An event is about it. */
    void onAsyncEvent(AsyncEventType type);
}
