// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.options;

import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.DeviceKind;
import io.rdma4j.verbs.LinkLayer;
import io.rdma4j.verbs.RdmaDevice;
import io.rdma4j.verbs.RdmaDevices;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.TransportType;
import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Collectors;

/**
 * The device that has an address of this machine. Two sides that have a TCP connection reach each other by its addresses;
 * the first device of the list may lead elsewhere.
 */
public final class DeviceOfAddress {
    private DeviceOfAddress() {}

    /**
     * {@return the best device that has the address and whose queue pairs can be connected by hand, opened; if none has,
     * the first one of InfiniBand, whose GIDs are no addresses of IP} The caller closes it.
     *
     * @throws IOException if there is none, or it cannot be opened
     */
    public static DeviceContext open(InetAddress local) throws IOException {
        List<RdmaDevice> devices = RdmaDevices.list();
        RdmaException failure = null;
        String ofInfiniBand = null;
        for (RdmaDevice device : likelyFirst(devices, interfaceName(local))) {
            try {
                DeviceContext context = device.open();
                try {
                    if (GidChoice.at(context.queryGidTable(), local) != null) {
                        return context;
                    }
                    if (ofInfiniBand == null && isInfiniBand(context)) {
                        ofInfiniBand = device.name();
                    }
                } catch (RdmaException | RuntimeException e) {
                    context.close();
                    throw e;
                }
                context.close();
            } catch (RdmaException e) {
                failure = failure == null ? e : failure;
            }
        }
        if (ofInfiniBand != null) {
            return RdmaDevices.find(ofInfiniBand).open();
        }
        if (failure != null) {
            throw failure;
        }
        throw none(devices, local);
    }

    private static boolean isInfiniBand(DeviceContext context) throws RdmaException {
        return context.queryPort(1).linkLayer() == LinkLayer.INFINIBAND;
    }

    /**
     * {@return the devices whose queue pairs can be connected by hand, in their order, but those of the software NIC on
     * other interfaces last} Opening takes addresses, so no more devices than necessary are opened.
     */
    static List<RdmaDevice> likelyFirst(List<RdmaDevice> devices,
            @Nullable String interfaceName) {
        return devices.stream().filter(device -> device.transport() != TransportType.IWARP)
                .sorted(Comparator
                        .comparing((RdmaDevice device) -> device.kind() == DeviceKind.SOFTWARE
                                && !device.name().endsWith("_" + interfaceName)))
                .toList();
    }

    private static @Nullable String interfaceName(InetAddress local) {
        try {
            NetworkInterface found = local instanceof Inet6Address scoped
                    && scoped.getScopeId() != 0
                            ? NetworkInterface.getByIndex(scoped.getScopeId())
                            : NetworkInterface.getByInetAddress(local);
            return found == null ? null : found.getName();
        } catch (SocketException unknown) {
            return null;
        }
    }

    private static IOException none(List<RdmaDevice> devices, InetAddress local) {
        if (devices.isEmpty()) {
            return new IOException("No IB devices found");
        }
        return new IOException("no RoCE device has the address " + local.getHostAddress()
                + ", by which this side and its peer reach each other; -d takes another of "
                + devices.stream().map(RdmaDevice::name).collect(Collectors.joining(", ")));
    }
}
