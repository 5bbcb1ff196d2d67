// SPDX-License-Identifier: Apache-2.0
/**
 * The verbs and connection manager interface of RDMA: {@code io.rdma4j.verbs}, {@code io.rdma4j.connection}, {@code
 * io.rdma4j.cm}, and the beans of devices. What else is in it is for providers, and changes with them.
 *
 * <p>Read first: {@code verbs.QueuePair}, {@code cm.CmId}, and, to make a device, {@code spi.CmContext}.
 */
// The providers are compiled after it.
@SuppressWarnings("module") module io.rdma4j.api {
    requires static org.jspecify;
    // Observation is optional: without these modules there are no beans and no recordings.
    requires static java.management;
    requires static jdk.jfr;

    exports io.rdma4j.cm;
    exports io.rdma4j.connection;
    exports io.rdma4j.observe.jmx;
    exports io.rdma4j.verbs;

    exports io.rdma4j.jdk to io.rdma4j.softnic, io.rdma4j.sockets, io.rdma4j.tools;
    exports io.rdma4j.device to io.rdma4j.softnic, io.rdma4j.ibverbs;
    exports io.rdma4j.event to io.rdma4j.softnic, io.rdma4j.ibverbs;
    exports io.rdma4j.observe.jfr to io.rdma4j.protocol, io.rdma4j.softnic, io.rdma4j.ibverbs,
            io.rdma4j.sockets;
    exports io.rdma4j.observe.registry to io.rdma4j.softnic, io.rdma4j.ibverbs, io.rdma4j.sockets;
    exports io.rdma4j.state to io.rdma4j.protocol, io.rdma4j.softnic, io.rdma4j.ibverbs;
    exports io.rdma4j.spi to io.rdma4j.protocol, io.rdma4j.softnic, io.rdma4j.ibverbs;

    uses io.rdma4j.verbs.RdmaProvider;
}
