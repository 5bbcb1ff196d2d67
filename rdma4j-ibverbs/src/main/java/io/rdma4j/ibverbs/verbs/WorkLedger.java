package io.rdma4j.ibverbs.verbs;

import io.rdma4j.verbs.WorkCompletionOpcode;

/** What was posted to one queue and has not completed. One thread posts at a time; those that poll do not wait for it. */
interface WorkLedger {
    /** What a request was posted with. */
    final class Completed {
        /** The application's number of it. */
        long id;
        /** Its {@code enum ibv_wc_opcode}. */
        int opcode;
    }

    /** {@return how many may be outstanding} */
    int capacity();

    /** {@return whether so many more fit} */
    boolean hasRoom(int more);

    /** {@return the number of the next request but {@code ahead}, for which there is room} Posted by {@link #commit}. */
    long note(int ahead, long id, WorkCompletionOpcode opcode);

    /** So many of those noted are to be posted now. */
    void commit(int count);

    /** So many of those committed last were refused. */
    void takeBack(int count);

    /**
     * A request has completed.
     *
     * @param number its number within the queue
     * @param into what it was posted with
     * @return false if there is no such request: the completion is of a queue that was closed
     */
    boolean complete(long number, Completed into);
}
