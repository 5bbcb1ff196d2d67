// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.ibverbs.provider;

import io.rdma4j.ibverbs.verbs.NativeContext;
import io.rdma4j.spi.AddressScope;
import io.rdma4j.spi.CmContext;
import io.rdma4j.spi.CmDevice;
import io.rdma4j.spi.PortAuthority;
import io.rdma4j.verbs.DeviceKind;
import io.rdma4j.verbs.NodeType;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.TransportType;
import org.jspecify.annotations.Nullable;

import java.net.InetAddress;
import java.util.List;

/**
 * A device of libibverbs, with its state at the time of listing.
 *
 * @param list the device list, for opening it
 * @param addresses the source of its addresses in the kernel's files
 * @param hostedAddresses its addresses at the time of listing
 */
record NativeDevice(DeviceList list, DeviceAddresses addresses, List<InetAddress> hostedAddresses,
        String name, int index, long nodeGuid, int nodeTypeCode,
        int transportCode) implements CmDevice {
    NativeDevice {
        hostedAddresses = List.copyOf(hostedAddresses);
    }

    @Override
    public NodeType nodeType() {
        return NodeType.ofCode(nodeTypeCode);
    }

    @Override
    public TransportType transport() {
        return TransportType.ofCode(transportCode);
    }

    @Override
    public DeviceKind kind() {
        return DeviceKind.NATIVE;
    }

    @Override
    public boolean hosts(InetAddress address) {
        return hostedAddresses.stream().anyMatch(own -> AddressScope.isSame(own, address));
    }

    @Override
    public @Nullable String obstacle() {
        return list.manager().obstacle();
    }

    @Override
    public PortAuthority portAuthority() {
        return list.manager().portAuthority();
    }

    @Override
    public CmContext open() throws RdmaException {
        return new NativeContext(this, list.libraries(), list.open(name), addresses::byPort,
                list.manager(), list.counters(name));
    }

    @Override
    public CmContext open(@Nullable InetAddress address) throws RdmaException {
        CmContext context = open();
        if (address != null) {
            try {
                context.claim(address);
            } catch (RdmaException e) {
                context.close();
                throw e;
            }
        }
        return context;
    }

    @Override
    public boolean equals(@Nullable Object other) {
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
