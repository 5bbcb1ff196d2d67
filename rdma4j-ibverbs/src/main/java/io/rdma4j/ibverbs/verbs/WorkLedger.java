package io.rdma4j.ibverbs.verbs;

/** What was posted to one queue and has not completed. */
interface WorkLedger {
    /** What a request was posted with. */
    final class Completed {
        /** The application's number of it. */
        long id;
        /** Its {@code enum ibv_wc_opcode}. */
        int opcode;
    }

    /**
     * A request has completed.
     *
     * @param number its number within the queue
     * @param into what it was posted with
     * @return false if there is no such request: the completion is of a queue that was closed
     */
    boolean complete(long number, Completed into);
}
