// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.device;

import io.rdma4j.spi.AddressScope;

import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.util.List;
import java.util.function.Supplier;

/** The network interface that a device is on: as it was listed, and as it is at the moment. Thread safe. */
final class DeviceInterface {
    /** The only one of the network that is no address of this machine. */
    private static final InetAddress LOOPBACK_BROADCAST = InetAddress.ofLiteral("127.255.255.255");
    private static final int ETHERNET_MTU = 1500;

    private final String device;
    private final NetworkInterface networkInterface;
    private final boolean isLoopback;
    private final Supplier<PortView> now;

    /**
     * @param device the name of the device
     * @param isLoopback whether the interface is the machine's loopback
     * @param now how the interface looks at the moment
     */
    DeviceInterface(String device, NetworkInterface networkInterface, boolean isLoopback,
            Supplier<PortView> now) {
        this.device = device;
        this.networkInterface = networkInterface;
        this.isLoopback = isLoopback;
        this.now = now;
    }

    /** {@return the name of the device} */
    String device() {
        return device;
    }

    /** {@return the network interface, as it was listed} */
    NetworkInterface networkInterface() {
        return networkInterface;
    }

    boolean isLoopback() {
        return isLoopback;
    }

    /** {@return whether an interface is the machine's loopback} */
    static boolean isLoopback(NetworkInterface networkInterface) {
        try {
            return networkInterface.isLoopback();
        } catch (SocketException gone) {
            return false;
        }
    }

    /** {@return whether an address is of 127.0.0.0/8} */
    static boolean isLoopbackIpv4(InetAddress address) {
        return address instanceof Inet4Address && address.isLoopbackAddress();
    }

    /** {@return whether an address is one that the interface has at this moment} */
    boolean hostsNow(InetAddress address) {
        return hosts(address, view().addresses());
    }

    /** {@return whether an address is one of some that the interface has or had} */
    boolean hosts(InetAddress address, List<InetAddress> own) {
        if (isLoopback && isLoopbackIpv4(address)) {
            return !address.equals(LOOPBACK_BROADCAST)
                    && own.stream().anyMatch(DeviceInterface::isLoopbackIpv4);
        }
        return AddressScope.isCompatible(networkInterface.getIndex(), AddressScope.of(address))
                && own.stream().anyMatch(each -> AddressScope.isSame(each, address));
    }

    /** {@return how the interface looks at this moment} It is looked up once. */
    PortView view() {
        return now.get();
    }

    /** {@return whether it is up at this moment} */
    boolean isUp() {
        return view().isUp();
    }

    /** {@return the bytes of the longest IP packet of the interface} */
    int mtuBytes() {
        try {
            return networkInterface.getMTU();
        } catch (SocketException gone) {
            return ETHERNET_MTU;
        }
    }
}
