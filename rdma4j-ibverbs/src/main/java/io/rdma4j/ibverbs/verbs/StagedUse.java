package io.rdma4j.ibverbs.verbs;

/** That a request in a chain names an object of the library, from when it is written until it is posted. */
interface StagedUse {
    /**
     * The request has been posted, or will not be.
     *
     * @param isPosted whether the driver has taken it
     */
    void end(boolean isPosted);
}
