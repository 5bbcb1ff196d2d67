// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.ibverbs.device;

import io.rdma4j.ibverbs.abi.HotCalls;
import io.rdma4j.verbs.DeviceAttributes;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;

import java.util.Map;

/**
 * Chooses the calls for posting and polling: ordinary calls, unless the application requests critical ones and the drivers
 * of the device's maker are known to allow them. Those drivers post by writing to the device, and the calls used here hold
 * no lock after their return; none of them was tested with critical calls. The kernel's software devices and some cards
 * post by a system call.
 */
public final class CallChoice {
    /** {@code true} or {@code false}, which is the default. */
    public static final String PROPERTY = "rdma4j.critical";
    /** NVIDIA, Mellanox before: {@code mlx4}, {@code mlx5}. */
    private static final int NVIDIA = 0x02c9;

    /** Has {@code mlx5} do without locks. */
    private static final String SINGLE_THREADED = "MLX5_SINGLE_THREADED";

    private CallChoice() {}

    /**
     * For operations of several calls during which the driver holds a lock: a critical call of another thread would wait
     * for the lock while the JVM has stopped its holder.
     *
     * @throws RdmaException EOPNOTSUPP if calls are critical
     */
    public static void requireOrdinary(HotCalls chosen, String operation) throws RdmaException {
        if (chosen == HotCalls.CRITICAL) {
            throw RdmaException.unsupported(operation, "timestamps, FLUSH and atomic writes hold a"
                    + " lock of the driver over several calls, which does not go with -D"
                    + PROPERTY + "=true");
        }
    }

    /**
     * To be called before a device is opened for several threads.
     *
     * @param environment of the process
     * @throws RdmaException EOPNOTSUPP if it has the driver do without locks: that ends the process when two threads meet
     */
    public static void requireLocks(DeviceAttributes device, Map<String, String> environment)
            throws RdmaException {
        if (device.vendorId() == NVIDIA && "1".equals(environment.get(SINGLE_THREADED))) {
            throw RdmaException.unsupported("open device", SINGLE_THREADED
                    + "=1 is in the environment, with which the driver ends a process of several"
                    + " threads; unset it");
        }
    }

    /** @throws RdmaException EINVAL if the property has another value */
    public static HotCalls of(DeviceAttributes device) throws RdmaException {
        String wanted = System.getProperty(PROPERTY, "false");
        return switch (wanted) {
            case "false" -> HotCalls.ORDINARY;
            case "true" -> device.vendorId() == NVIDIA ? HotCalls.CRITICAL : HotCalls.ORDINARY;
            default -> throw new RdmaException(Errno.EINVAL, "open device",
                    PROPERTY + " is true or false, not '" + wanted + "'");
        };
    }
}
