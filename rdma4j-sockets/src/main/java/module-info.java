/** Channels over RDMA, with librdmacm's rsocket protocol on the wire: {@code io.rdma4j.sockets}. */
module io.rdma4j.sockets {
    requires static org.jspecify;
    requires jdk.net;
    requires transitive io.rdma4j.api;

    exports io.rdma4j.sockets;
}
