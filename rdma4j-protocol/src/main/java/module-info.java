// SPDX-License-Identifier: Apache-2.0
/**
 * Pure state machines and wire formats: what travels between devices and what it does to them. For the software NIC, with
 * which it changes.
 *
 * <p>Read first: {@code roce.rc.RcQueuePair}, {@code iwarp.IwarpQueuePair}, {@code ibcm.IbConnectionManager}.
 */
// It is compiled after this.
@SuppressWarnings("module") module io.rdma4j.protocol {
    requires static org.jspecify;
    requires transitive io.rdma4j.api;

    exports io.rdma4j.protocol.bytes to io.rdma4j.softnic;
    exports io.rdma4j.protocol.count to io.rdma4j.softnic;
    exports io.rdma4j.protocol.ibcm to io.rdma4j.softnic;
    exports io.rdma4j.protocol.iwarp to io.rdma4j.softnic;
    exports io.rdma4j.protocol.iwarp.wire to io.rdma4j.softnic;
    exports io.rdma4j.protocol.work to io.rdma4j.softnic;
    exports io.rdma4j.protocol.roce to io.rdma4j.softnic;
    exports io.rdma4j.protocol.roce.rc to io.rdma4j.softnic;
    exports io.rdma4j.protocol.roce.unreliable to io.rdma4j.softnic;
    exports io.rdma4j.protocol.roce.wire to io.rdma4j.softnic;
}
