// SPDX-License-Identifier: Apache-2.0
/**
 * Channels over RDMA, with librdmacm's rsocket protocol on the wire: {@code io.rdma4j.sockets}.
 *
 * <p>Read first: {@code RdmaSockets}, which makes channels, {@code engine.SocketEngine}, which drives them, and {@code
 * protocol.RsocketStream}, the protocol.
 */
module io.rdma4j.sockets {
    requires static org.jspecify;
    requires jdk.net;
    requires transitive io.rdma4j.api;
    // Of a JVM that is started with -javaagent.
    requires static java.instrument;
    // Observation is optional: without this module there are no recordings.
    requires static jdk.jfr;

    exports io.rdma4j.sockets;
    exports io.rdma4j.sockets.observe.jmx;
}
