/** The verbs and connection manager interface of RDMA. */
module io.rdma4j.api {
    requires static org.jspecify;

    exports io.rdma4j.cm;
    exports io.rdma4j.connection;
    exports io.rdma4j.event;
    exports io.rdma4j.spi;
    exports io.rdma4j.verbs;

    uses io.rdma4j.verbs.RdmaProvider;
}
