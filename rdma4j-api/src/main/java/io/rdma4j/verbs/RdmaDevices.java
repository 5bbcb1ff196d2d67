// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.verbs;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.ServiceLoader;
import java.util.stream.Collectors;

/**
 * The RDMA devices of this machine, from every {@link RdmaProvider} on the class or module path.
 *
 * <p>They are sorted, the best first: native devices before software devices, InfiniBand and RoCE before iWARP,
 * otherwise by name. A program that names no device gets the first. The order does not depend on which devices are open.
 *
 * @since 0.1.0
 */
public final class RdmaDevices {
    private static final Comparator<RdmaDevice> BEST_FIRST = Comparator
            .comparing(RdmaDevice::kind).thenComparing(RdmaDevice::transport)
            .thenComparing(RdmaDevice::name);

    private static final String FIND = "find device";

    /** Empty as long as none was found. */
    private static volatile List<RdmaProvider> found = List.of();

    static {
        PropertyNames.warnOfUnknown();
    }

    private RdmaDevices() {}

    /** {@return the providers} They are looked up only once, because a look-up reads files and each id lists devices. */
    private static List<RdmaProvider> providers() {
        List<RdmaProvider> known = found;
        if (known.isEmpty()) {
            known = ServiceLoader.load(RdmaProvider.class, RdmaDevices.class.getClassLoader())
                    .stream().map(ServiceLoader.Provider::get).toList();
            found = known;
        }
        return known;
    }

    /**
     * {@return the present devices, the best first; empty without a provider, or if no provider has a device}
     * There is nothing to free. C: {@index ibv_get_device_list}, {@index ibv_free_device_list}.
     */
    public static List<RdmaDevice> list() {
        List<RdmaDevice> devices = new ArrayList<>();
        for (RdmaProvider provider : providers()) {
            devices.addAll(provider.devices());
        }
        devices.sort(BEST_FIRST);
        return List.copyOf(devices);
    }

    /**
     * {@return the best device, which a program gets that names none}
     *
     * @throws RdmaException ENODEV if there is none, saying whether a provider is missing or devices are
     */
    public static RdmaDevice first() throws RdmaException {
        return requireAny().getFirst();
    }

    private static List<RdmaDevice> requireAny() throws RdmaException {
        List<RdmaDevice> devices = list();
        if (!devices.isEmpty()) {
            return devices;
        }
        List<String> found = new ArrayList<>();
        providers().forEach(provider -> found.add(provider.getClass().getName()));
        throw new RdmaException(Errno.ENODEV, FIND, found.isEmpty()
                ? "no RDMA provider is found: put rdma4j-softnic, or another one, on the class or"
                        + " module path"
                : "there is no RDMA device: " + String.join(", ", found) + " finds none; the"
                        + " software NIC has one for each network interface that is up"
                        + absent().stream().findFirst()
                                .map(each -> ", and " + each.name() + " is missing because "
                                        + each.reason())
                                .orElse(""));
    }

    /**
     * {@return the device of that name}
     *
     * @param name as {@code rdma4j ibv_devices} lists it
     * @throws RdmaException ENODEV naming the devices there are, or saying why there are none
     */
    public static RdmaDevice find(String name) throws RdmaException {
        List<RdmaDevice> devices = requireAny();
        for (RdmaDevice device : devices) {
            if (device.name().equals(name)) {
                return device;
            }
        }
        String known = devices.stream().map(RdmaDevice::name).collect(Collectors.joining(", "));
        throw new RdmaException(Errno.ENODEV, FIND, "there is no device '" + name
                + "'" + absent().stream().filter(each -> each.name().equals(name)).findFirst()
                        .map(each -> ": " + each.reason()).orElse("")
                + "; there are " + known);
    }

    /**
     * {@return remarks of the providers about this machine for people to read, one line each: why devices are missing, and
     * what to do about it} Empty if there are none. The devices of {@link #list} can be used in any case. It may take
     * longer than {@code list}. See {@link RdmaProvider#remarks}.
     */
    @Experimental
    public static List<String> remarks() {
        return providers().stream().flatMap(provider -> provider.remarks().stream()).toList();
    }

    /**
     * {@return the devices that {@link #list} does not have and that there will be when the machine lets them, each with
     * the reason, by name} C has no counterpart.
     */
    public static List<AbsentDevice> absent() {
        return providers().stream().flatMap(provider -> provider.absent().stream())
                .sorted(Comparator.comparing(AbsentDevice::name)).toList();
    }

    /**
     * {@return a registration of a callback for changes of {@link #list} and {@link #absent}; null if no provider reports
     * changes} Devices of providers that report none are found by listing. C has no counterpart: programs there ask
     * udev.
     *
     * @param onChange called after each change, by a thread that it must not keep for long; perhaps also without a change
     */
    public static @Nullable DeviceWatch watch(Runnable onChange) {
        List<DeviceWatch> watches = new ArrayList<>();
        for (RdmaProvider provider : providers()) {
            DeviceWatch watch = provider.watch(onChange);
            if (watch != null) {
                watches.add(watch);
            }
        }
        return watches.isEmpty() ? null : () -> watches.forEach(DeviceWatch::close);
    }
}
