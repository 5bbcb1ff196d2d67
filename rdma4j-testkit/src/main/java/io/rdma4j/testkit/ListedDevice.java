// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.testkit;

import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.DeviceKind;
import io.rdma4j.verbs.NodeType;
import io.rdma4j.verbs.RdmaDevice;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.TransportType;

/**
 * A device of which there is only what a list of devices shows.
 *
 * @param refusal what {@link #open} throws
 */
public record ListedDevice(String name, DeviceKind kind, TransportType transport,
        RdmaException refusal) implements RdmaDevice {
    /** One that says that it is only listed. */
    public ListedDevice(String name, DeviceKind kind, TransportType transport) {
        this(name, kind, transport,
                RdmaException.unsupported("open device", name + " is only listed"));
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
    public DeviceContext open() throws RdmaException {
        throw refusal;
    }
}
