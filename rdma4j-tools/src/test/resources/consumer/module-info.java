/** A program of a user. */
module hello {
    requires io.rdma4j.api;
}
