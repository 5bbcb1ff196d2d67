// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.ibverbs.work;

import io.rdma4j.verbs.WorkCompletionOpcode;

/** The outstanding requests of one queue. One thread posts at a time; polling threads do not wait for it. */
public interface WorkLedger {
    /** The stored data of a request. */
    final class Completed {
        /** The application's number of the request. */
        public long id;
        /** Its {@code enum ibv_wc_opcode}. */
        public int opcode;
    }

    /** {@return the maximum number of outstanding requests} */
    int capacity();

    /** {@return whether so many more fit} */
    boolean hasRoom(int more);

    /**
     * Stores the request that is {@code ahead} requests after the next one, for which there must be room. {@link #commit}
     * posts it.
     *
     * @param isSignaled whether it completes in the completion queue also if it succeeds
     * @return its number
     */
    long note(int ahead, long id, WorkCompletionOpcode opcode, boolean isSignaled);

    /** Marks the first stored requests as posted. */
    void commit(int count);

    /** So many of those committed last were refused. */
    void takeBack(int count);

    /** None that is committed now will be taken back. Needed only if the driver loses late work. */
    void accept();

    /** A request has completed with an error. */
    void onFailure();

    /**
     * A request has completed.
     *
     * @param number its number within the queue
     * @param into receives its stored data
     * @return false if there is no such request: the completion is of a closed queue
     */
    boolean complete(long number, Completed into);
}
