// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.roce;

import io.rdma4j.protocol.roce.wire.Path;
import io.rdma4j.softnic.verbs.TransportHost;
import io.rdma4j.softnic.verbs.UnreliableDatagrams;
import io.rdma4j.verbs.AddressHandleAttributes;

/** The datagrams of RoCE: their paths between addresses of the network. */
final class RoceDatagrams implements UnreliableDatagrams {
    private final TransportHost host;

    RoceDatagrams(TransportHost host) {
        this.host = host;
    }

    @Override
    public Path route(AddressHandleAttributes attributes) {
        return new Path(host.gids().get(attributes.sourceGidIndex()), attributes.destination(),
                attributes.trafficClass(), attributes.flowLabel(), attributes.hopLimit());
    }
}
