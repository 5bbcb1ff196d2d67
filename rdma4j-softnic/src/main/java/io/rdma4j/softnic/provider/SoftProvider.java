// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.provider;

import io.rdma4j.softnic.device.DeviceFamily;
import io.rdma4j.softnic.device.SoftDevice;
import io.rdma4j.softnic.host.HostInterface;
import io.rdma4j.softnic.host.HostWatch;
import io.rdma4j.softnic.iwarp.IwarpFamily;
import io.rdma4j.softnic.roce.RoceFamily;
import io.rdma4j.verbs.AbsentDevice;
import io.rdma4j.verbs.DeviceWatch;
import io.rdma4j.verbs.RdmaDevice;
import io.rdma4j.verbs.RdmaProvider;
import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;

/** A device of each family for each network interface that is up and has an address. */
public final class SoftProvider implements RdmaProvider {
    private static final List<DeviceFamily> FAMILIES = List.of(RoceFamily.ROCE, IwarpFamily.IWARP);

    private final AtomicBoolean hasWarned = new AtomicBoolean();

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
            warn(e);
        }
        return devices;
    }

    @Override
    public List<AbsentDevice> absent() {
        List<AbsentDevice> absent = new ArrayList<>();
        try {
            for (HostInterface each : HostWatch.OF_PROCESS.now().interfaces()) {
                String reason = reason(each);
                if (reason != null) {
                    FAMILIES.forEach(family -> absent.add(new AbsentDevice(
                            family.prefix() + each.name(), family.transport(), reason)));
                }
            }
        } catch (IOException e) {
            warn(e);
        }
        return absent;
    }

    /** {@return why an interface has no devices, null if it has} */
    private static @Nullable String reason(HostInterface on) {
        String name = "the network interface " + on.name();
        if (!on.isUp()) {
            return name + " is down; ip link set " + on.name() + " up brings it up";
        }
        if (!on.isRunning()) {
            return name + " has no carrier: its other side is down, or the cable is out";
        }
        return on.addresses().isEmpty() ? name + " has no address" : null;
    }

    /** Says once, in one line, that there are no devices for that reason: each look for devices ends so. */
    private void warn(IOException e) {
        if (hasWarned.compareAndSet(false, true)) {
            System.getLogger(SoftProvider.class.getName()).log(System.Logger.Level.WARNING,
                    "the system does not tell its network interfaces: {0}", e.getMessage());
        }
    }

    @Override
    public DeviceWatch watch(Runnable onChange) {
        // An object of its own, because the same callback may be registered twice.
        Runnable listener = () -> {
            onChange.run();
        };
        AtomicBoolean isClosed = new AtomicBoolean();
        HostWatch.OF_PROCESS.watch(listener);
        return () -> {
            if (isClosed.compareAndSet(false, true)) {
                HostWatch.OF_PROCESS.forget(listener);
            }
        };
    }
}
