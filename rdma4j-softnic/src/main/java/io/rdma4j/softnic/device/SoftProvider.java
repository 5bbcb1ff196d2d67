package io.rdma4j.softnic.device;

import io.rdma4j.spi.RdmaProvider;
import io.rdma4j.verbs.RdmaDevice;

import java.net.NetworkInterface;
import java.net.SocketException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/** A RoCE device for each network interface that is up and has an address. */
public final class SoftProvider implements RdmaProvider {
    /** Called by {@link java.util.ServiceLoader}. */
    public SoftProvider() {}

    @Override
    public List<RdmaDevice> devices() {
        List<RdmaDevice> devices = new ArrayList<>();
        try {
            for (NetworkInterface each : Collections
                    .list(NetworkInterface.getNetworkInterfaces())) {
                if (each.isUp() && each.getInetAddresses().hasMoreElements()) {
                    devices.add(new SoftDevice(each));
                }
            }
        } catch (SocketException e) {
            System.getLogger(SoftProvider.class.getName()).log(System.Logger.Level.WARNING,
                    "the system does not tell its network interfaces", e);
        }
        return devices;
    }
}
