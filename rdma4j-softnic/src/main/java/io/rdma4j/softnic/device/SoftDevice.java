// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.device;

import io.rdma4j.connection.PortSpace;
import io.rdma4j.softnic.options.DeviceOptions;
import io.rdma4j.softnic.options.SoftwareDevice;
import io.rdma4j.softnic.verbs.SoftDeviceContext;
import io.rdma4j.spi.AddressScope;
import io.rdma4j.spi.CmDevice;
import io.rdma4j.spi.PortAuthority;
import io.rdma4j.verbs.DeviceKind;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.NodeType;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.TransportType;
import org.jspecify.annotations.Nullable;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.util.List;
import java.util.function.Supplier;

/** A software device of a family on a network interface, named after both. */
public final class SoftDevice implements CmDevice, SoftwareDevice {
    /** The only one of the network that is no address of this machine. */
    private static final InetAddress LOOPBACK_BROADCAST = InetAddress.ofLiteral("127.255.255.255");
    private static final int ETHERNET_MTU = 1500;
    private static final long LOCAL_GUID = 0x7264_6d61_346a_0000L; // "rdma4j"

    private final DeviceFamily family;
    private final NetworkInterface networkInterface;
    private final boolean isLoopback;
    private final Supplier<PortView> now;

    public SoftDevice(DeviceFamily family, NetworkInterface networkInterface) {
        this(family, networkInterface, isLoopback(networkInterface),
                new InterfaceView(networkInterface));
    }

    /**
     * @param isLoopback whether the interface is the machine's loopback
     * @param now how the interface looks at the moment
     */
    public SoftDevice(DeviceFamily family, NetworkInterface networkInterface, boolean isLoopback,
            Supplier<PortView> now) {
        this.family = family;
        this.networkInterface = networkInterface;
        this.isLoopback = isLoopback;
        this.now = now;
    }

    @Override
    public String name() {
        return family.prefix() + networkInterface.getName();
    }

    @Override
    public int index() {
        return networkInterface.getIndex();
    }

    /** {@return EUI-64 of the interface's MAC address; without one a number of its own} */
    @Override
    public long nodeGuid() {
        byte[] mac = hardwareAddress();
        if (mac == null || mac.length != 6) {
            return LOCAL_GUID | (networkInterface.getIndex() & 0xffff);
        }
        long high = ((mac[0] & 0xffL) ^ 2) << 40 | (mac[1] & 0xffL) << 32 | (mac[2] & 0xffL) << 24;
        long low = (mac[3] & 0xffL) << 16 | (mac[4] & 0xffL) << 8 | (mac[5] & 0xffL);
        return high << 16 | 0xff_fe00_0000L | low;
    }

    private byte @Nullable [] hardwareAddress() {
        try {
            return networkInterface.getHardwareAddress();
        } catch (SocketException gone) {
            return null;
        }
    }

    /** {@return which devices it is one of} */
    DeviceFamily family() {
        return family;
    }

    @Override
    public NodeType nodeType() {
        return family.nodeType();
    }

    @Override
    public TransportType transport() {
        return family.transport();
    }

    @Override
    public DeviceKind kind() {
        return DeviceKind.SOFTWARE;
    }

    /**
     * {@return the addresses it had when it was listed} Asking again would take as long as listing all devices.
     */
    @Override
    public List<InetAddress> hostedAddresses() {
        return InterfaceView.addresses(networkInterface);
    }

    @Override
    public boolean hosts(InetAddress address) {
        return hosts(address, hostedAddresses());
    }

    @Override
    public PortAuthority portAuthority() {
        return family.portAuthority();
    }

    @Override
    public boolean seesListener(PortSpace space, InetAddress source,
            InetSocketAddress destination) {
        return family.seesListener(space, source, destination);
    }

    /** {@return whether an address is one that the interface has at this moment} */
    boolean hostsNow(InetAddress address) {
        return hosts(address, addresses());
    }

    private boolean hosts(InetAddress address, List<InetAddress> own) {
        if (isLoopback() && NicAddresses.isLoopbackIpv4(address)) {
            return !address.equals(LOOPBACK_BROADCAST)
                    && own.stream().anyMatch(NicAddresses::isLoopbackIpv4);
        }
        return AddressScope.isCompatible(interfaceIndex(), AddressScope.of(address))
                && own.stream().anyMatch(each -> AddressScope.isSame(each, address));
    }

    @Override
    public SoftDeviceContext open() throws RdmaException {
        return SoftNic.open(this, null, DeviceOptions.DEFAULT);
    }

    @Override
    public SoftDeviceContext open(DeviceOptions options) throws RdmaException {
        return SoftNic.open(this, null, options);
    }

    @Override
    public SoftDeviceContext open(@Nullable InetAddress address) throws RdmaException {
        return SoftNic.openAndHold(this, address);
    }

    boolean isLoopback() {
        return isLoopback;
    }

    private static boolean isLoopback(NetworkInterface networkInterface) {
        try {
            return networkInterface.isLoopback();
        } catch (SocketException gone) {
            return false;
        }
    }

    /** {@return the network interface, as it was listed} */
    public NetworkInterface networkInterface() {
        return networkInterface;
    }

    /** {@return the network interface's number} */
    public int interfaceIndex() {
        return networkInterface.getIndex();
    }

    /** {@return how the interface looks at this moment} It is looked up once. */
    PortView view() {
        return now.get();
    }

    /** @throws RdmaException ENODEV if there is no such interface any more */
    void requirePresent() throws RdmaException {
        if (!view().isPresent()) {
            throw new RdmaException(Errno.ENODEV, "open device",
                    "the network interface " + networkInterface.getName() + " is gone");
        }
    }

    /** {@return whether the network interface is up at this moment} */
    public boolean isUp() {
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

    /** {@return the interface's usable addresses in the order of the GID table: the link's, IPv4, other IPv6} */
    public List<InetAddress> addresses() {
        return view().addresses();
    }

    @Override
    public String toString() {
        return name();
    }
}
