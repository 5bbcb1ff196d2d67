package io.rdma4j.verbs;

import io.rdma4j.spi.RdmaProvider;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.ServiceLoader;
import java.util.stream.Collectors;

/**
 * The RDMA devices of this machine, from every provider on the class or module path.
 */
public final class RdmaDevices {
    private RdmaDevices() {}

    /** {@return the devices there are now, by name} C: {@code ibv_get_device_list}. */
    public static List<RdmaDevice> list() {
        List<RdmaDevice> devices = new ArrayList<>();
        for (RdmaProvider provider : ServiceLoader.load(RdmaProvider.class,
                RdmaDevices.class.getClassLoader())) {
            devices.addAll(provider.devices());
        }
        devices.sort(Comparator.comparing(RdmaDevice::name));
        return List.copyOf(devices);
    }

    /**
     * {@return the device of that name}
     *
     * @throws RdmaException ENODEV naming the devices there are
     */
    public static RdmaDevice find(String name) throws RdmaException {
        List<RdmaDevice> devices = list();
        for (RdmaDevice device : devices) {
            if (device.name().equals(name)) {
                return device;
            }
        }
        String known = devices.stream().map(RdmaDevice::name).collect(Collectors.joining(", "));
        throw new RdmaException(Errno.ENODEV, "find device", "there is no device '" + name
                + "'; there " + (known.isEmpty() ? "are none" : "are " + known));
    }

    /**
     * {@return whether registered memory survives a fork of the process} The Java virtual machine does not
     * fork itself; a child process it starts is another program, so nothing has to be done. C:
     * {@code ibv_is_fork_initialized}.
     */
    public static ForkStatus forkStatus() {
        return ForkStatus.UNNEEDED;
    }
}
