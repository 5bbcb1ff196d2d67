// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.device;

import io.rdma4j.softnic.verbs.PortServices;
import io.rdma4j.verbs.Gid;
import io.rdma4j.verbs.RdmaException;
import org.jspecify.annotations.Nullable;

import java.net.InetAddress;
import java.net.NetworkInterface;
import java.util.List;

/** The port of an open device: its network interface, as last seen, and its addresses. */
final class SoftPort implements PortServices {
    private final DeviceInterface deviceInterface;
    private final NicAddresses addresses;
    private volatile @Nullable PortView lastView;
    private volatile boolean hasFailed;

    SoftPort(DeviceInterface deviceInterface, NicAddresses addresses) {
        this.deviceInterface = deviceInterface;
        this.addresses = addresses;
    }

    /** {@return how the interface looked before} It looks like this now. */
    @Nullable
    PortView exchangeView(PortView now) {
        PortView before = lastView;
        lastView = now;
        return before;
    }

    /** {@return how the interface looked when it was last looked at, null before} */
    @Nullable
    PortView view() {
        return lastView;
    }

    @Override
    public NetworkInterface networkInterface() {
        return deviceInterface.networkInterface();
    }

    @Override
    public boolean isUp() {
        return deviceInterface.isUp();
    }

    @Override
    public boolean isGone() {
        PortView now = lastView;
        return hasFailed || (now != null && !now.isPresent());
    }

    /** The device has failed. */
    void fail() {
        hasFailed = true;
    }

    @Override
    public int mtuBytes() {
        return deviceInterface.mtuBytes();
    }

    @Override
    public List<Gid> gids() {
        return addresses.gids();
    }

    @Override
    public List<InetAddress> addresses() {
        return addresses.all();
    }

    @Override
    public void hold(@Nullable InetAddress address) throws RdmaException {
        addresses.hold(address);
    }

    @Override
    public void claim(InetAddress address) throws RdmaException {
        addresses.claim(address);
    }

    @Override
    public void claimUsual() {
        addresses.claimUsual();
    }
}
