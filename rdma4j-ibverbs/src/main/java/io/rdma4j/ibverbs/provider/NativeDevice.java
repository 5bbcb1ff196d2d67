package io.rdma4j.ibverbs.provider;

import io.rdma4j.ibverbs.verbs.NativeContext;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.DeviceKind;
import io.rdma4j.verbs.NodeType;
import io.rdma4j.verbs.RdmaDevice;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.TransportType;

/**
 * A device of libibverbs, as it was when it was listed.
 *
 * @param list what lists it again, to open it
 */
record NativeDevice(DeviceList list, String name, int index, long nodeGuid, NodeType nodeType,
        TransportType transport) implements RdmaDevice {
    @Override
    public DeviceKind kind() {
        return DeviceKind.NATIVE;
    }

    @Override
    public DeviceContext open() throws RdmaException {
        return new NativeContext(this, list.libraries(), list.open(name));
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof NativeDevice device && name.equals(device.name);
    }

    @Override
    public int hashCode() {
        return name.hashCode();
    }

    @Override
    public String toString() {
        return name;
    }
}
