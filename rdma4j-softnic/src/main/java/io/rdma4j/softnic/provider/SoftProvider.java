package io.rdma4j.softnic.provider;

import io.rdma4j.softnic.device.DeviceFamily;
import io.rdma4j.softnic.device.SoftDevice;
import io.rdma4j.softnic.iwarp.IwarpFamily;
import io.rdma4j.softnic.roce.RoceFamily;
import io.rdma4j.verbs.RdmaDevice;
import io.rdma4j.verbs.RdmaProvider;

import java.net.NetworkInterface;
import java.net.SocketException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/** A device of each family for each network interface that is up and has an address. */
public final class SoftProvider implements RdmaProvider {
    private static final List<DeviceFamily> FAMILIES = List.of(RoceFamily.ROCE, IwarpFamily.IWARP);

    /** Called by {@link java.util.ServiceLoader}. */
    public SoftProvider() {}

    @Override
    public List<RdmaDevice> devices() {
        List<RdmaDevice> devices = new ArrayList<>();
        try {
            for (NetworkInterface each : Collections
                    .list(NetworkInterface.getNetworkInterfaces())) {
                if (each.isUp() && each.getInetAddresses().hasMoreElements()) {
                    FAMILIES.forEach(family -> devices.add(new SoftDevice(family, each)));
                }
            }
        } catch (SocketException e) {
            System.getLogger(SoftProvider.class.getName()).log(System.Logger.Level.WARNING,
                    "the system does not tell its network interfaces", e);
        }
        return devices;
    }
}
