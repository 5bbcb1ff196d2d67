/** The verbs and connection manager interface of RDMA. */
module io.rdma4j.api {
    requires static org.jspecify;
    // Observation is optional: without these modules there are no beans and no recordings.
    requires static java.management;
    requires static jdk.jfr;

    exports io.rdma4j.cm;
    exports io.rdma4j.connection;
    exports io.rdma4j.event;
    exports io.rdma4j.observe.jfr;
    exports io.rdma4j.observe.jmx;
    exports io.rdma4j.spi;
    exports io.rdma4j.verbs;

    uses io.rdma4j.verbs.RdmaProvider;
}
