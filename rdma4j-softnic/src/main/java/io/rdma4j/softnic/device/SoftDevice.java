// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.device;

import io.rdma4j.connection.PortSpace;
import io.rdma4j.softnic.options.DeviceOptions;
import io.rdma4j.softnic.options.SoftwareDevice;
import io.rdma4j.softnic.verbs.SoftDeviceContext;
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
    private static final long LOCAL_GUID = 0x7264_6d61_346a_0000L; // "rdma4j"

    private final DeviceFamily family;
    private final DeviceInterface deviceInterface;

    public SoftDevice(DeviceFamily family, NetworkInterface networkInterface) {
        this(family, networkInterface, DeviceInterface.isLoopback(networkInterface),
                new InterfaceView(networkInterface));
    }

    /**
     * @param isLoopback whether the interface is the machine's loopback
     * @param now how the interface looks at the moment
     */
    public SoftDevice(DeviceFamily family, NetworkInterface networkInterface, boolean isLoopback,
            Supplier<PortView> now) {
        this.family = family;
        deviceInterface = new DeviceInterface(family.prefix() + networkInterface.getName(),
                networkInterface,
                isLoopback, now);
    }

    @Override
    public String name() {
        return deviceInterface.device();
    }

    @Override
    public int index() {
        return deviceInterface.networkInterface().getIndex();
    }

    /** {@return EUI-64 of the interface's MAC address; without one a number of its own} */
    @Override
    public long nodeGuid() {
        byte[] mac = hardwareAddress();
        if (mac == null || mac.length != 6) {
            return LOCAL_GUID | (deviceInterface.networkInterface().getIndex() & 0xffff);
        }
        long high = ((mac[0] & 0xffL) ^ 2) << 40 | (mac[1] & 0xffL) << 32 | (mac[2] & 0xffL) << 24;
        long low = (mac[3] & 0xffL) << 16 | (mac[4] & 0xffL) << 8 | (mac[5] & 0xffL);
        return high << 16 | 0xff_fe00_0000L | low;
    }

    private byte @Nullable [] hardwareAddress() {
        try {
            return deviceInterface.networkInterface().getHardwareAddress();
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
        return InterfaceView.addresses(deviceInterface.networkInterface());
    }

    @Override
    public boolean hosts(InetAddress address) {
        return deviceInterface.hosts(address, hostedAddresses());
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

    /** {@return the network interface, as it was listed} */
    public NetworkInterface networkInterface() {
        return deviceInterface.networkInterface();
    }

    /** {@return the network interface's number} */
    public int interfaceIndex() {
        return deviceInterface.networkInterface().getIndex();
    }

    /** {@return its network interface} */
    DeviceInterface deviceInterface() {
        return deviceInterface;
    }

    /** @throws RdmaException ENODEV if there is no such interface any more */
    void requirePresent() throws RdmaException {
        if (!deviceInterface.view().isPresent()) {
            throw new RdmaException(Errno.ENODEV, "open device",
                    "the network interface " + deviceInterface.networkInterface().getName()
                            + " is gone");
        }
    }

    /** {@return whether the network interface is up at this moment} */
    public boolean isUp() {
        return deviceInterface.isUp();
    }

    /** {@return the interface's usable addresses in the order of the GID table: the link's, IPv4, other IPv6} */
    public List<InetAddress> addresses() {
        return deviceInterface.view().addresses();
    }

    @Override
    public String toString() {
        return name();
    }
}
