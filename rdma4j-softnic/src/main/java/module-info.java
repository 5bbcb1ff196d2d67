// SPDX-License-Identifier: Apache-2.0
/**
 * The software NIC: RoCEv2 and iWARP on ordinary sockets.
 *
 * <p>Read first: {@code provider.SoftProvider}, which lists the devices, {@code verbs.SoftQueuePair}, which programs post to, and {@code
 * engine.EngineDriver}, by which a thread runs the protocols.
 */
module io.rdma4j.softnic {
    requires static org.jspecify;
    requires transitive io.rdma4j.api;
    requires io.rdma4j.protocol;
    // Makes JMX and Flight Recorder available: the API shows devices there only if these modules
    // are present.
    requires java.management;
    requires jdk.jfr;
    requires jdk.net;

    exports io.rdma4j.softnic.observe.jmx;
    exports io.rdma4j.softnic.options;

    provides io.rdma4j.verbs.RdmaProvider with io.rdma4j.softnic.provider.SoftProvider;
}
