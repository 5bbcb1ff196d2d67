/** A program of somebody else. */
module hello {
    requires io.rdma4j.api;
}
