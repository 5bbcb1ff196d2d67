// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.testkit;

import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.DeviceKind;
import io.rdma4j.verbs.NodeType;
import io.rdma4j.verbs.RdmaDevice;
import io.rdma4j.verbs.TransportType;

/** A device that can be opened and closed, and refuses everything else as not supported. */
record RefusingDevice(TransportType transport) implements RdmaDevice {
    @Override
    public String name() {
        return "refusing";
    }

    @Override
    public int index() {
        return 1;
    }

    @Override
    public long nodeGuid() {
        return 1;
    }

    @Override
    public NodeType nodeType() {
        return transport == TransportType.IWARP ? NodeType.RNIC : NodeType.CHANNEL_ADAPTER;
    }

    @Override
    public DeviceContext open() {
        return new RefusingContext(this);
    }

    @Override
    public DeviceKind kind() {
        return DeviceKind.SOFTWARE;
    }
}
