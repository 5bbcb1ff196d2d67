/** Pure state machines and wire formats: what travels between devices and what it does to them. */
module io.rdma4j.protocol {
    requires static org.jspecify;
    requires transitive io.rdma4j.api;

    exports io.rdma4j.protocol.cm;
    exports io.rdma4j.protocol.queue;
    exports io.rdma4j.protocol.rc;
    exports io.rdma4j.protocol.unreliable;
    exports io.rdma4j.protocol.wire;
}
