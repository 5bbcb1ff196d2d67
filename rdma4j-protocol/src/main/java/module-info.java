/** Pure state machines and wire formats: what travels between devices and what it does to them. */
module io.rdma4j.protocol {
    requires static org.jspecify;
    requires transitive io.rdma4j.api;

    exports io.rdma4j.protocol.bytes;
    exports io.rdma4j.protocol.ibcm;
    exports io.rdma4j.protocol.iwarp;
    exports io.rdma4j.protocol.iwarp.wire;
    exports io.rdma4j.protocol.work;
    exports io.rdma4j.protocol.roce;
    exports io.rdma4j.protocol.roce.rc;
    exports io.rdma4j.protocol.roce.unreliable;
    exports io.rdma4j.protocol.roce.wire;
}
