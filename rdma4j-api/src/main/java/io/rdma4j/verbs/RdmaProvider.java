// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.verbs;

import org.jspecify.annotations.Nullable;

import java.util.List;

/**
 * A source of devices, found by {@link java.util.ServiceLoader}. Programs use {@link RdmaDevices}.
 *
 * <p>Implemented by providers; a later version adds methods only as {@code default}.
 *
 * @since 0.1.0
 */
public interface RdmaProvider {
    /** {@return the present devices} It never fails: devices that cannot be listed are left out. */
    List<RdmaDevice> devices();

    /**
     * {@return why devices are missing on this machine, or what they cannot do here; empty by default}
     *
     * <p>For people to read: each remark is one line and says what to do about it. Tools that describe a machine call
     * this; it may read files and look for libraries that {@link #devices} does not need. It never fails. C has no
     * counterpart.
     */
    default List<String> remarks() {
        return List.of();
    }

    /**
     * {@return devices that {@link #devices} does not list and that there will be when the machine lets them; empty by
     * default} It never fails. C has no counterpart.
     */
    default List<AbsentDevice> absent() {
        return List.of();
    }

    /**
     * {@return a registration of a callback for changes of what {@link #devices} and {@link #absent} list; null, as by
     * default, if the provider reports none} C has no counterpart: programs there ask udev.
     *
     * @param onChange called after each change, by a thread that it must not keep for long; perhaps also without a change
     */
    default @Nullable DeviceWatch watch(Runnable onChange) {
        return null;
    }
}
