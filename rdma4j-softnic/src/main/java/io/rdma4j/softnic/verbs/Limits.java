// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.verbs;

import io.rdma4j.device.ReportedBits;
import io.rdma4j.device.ReportedDevice;
import io.rdma4j.spi.MemoryErrors;
import io.rdma4j.verbs.AtomicCapability;
import io.rdma4j.verbs.DeviceAttributes;
import io.rdma4j.verbs.DeviceCapability;
import io.rdma4j.verbs.DeviceLimit;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.OnDemandCapability;
import io.rdma4j.verbs.QueuePairType;
import io.rdma4j.verbs.RdmaException;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.Map;
import java.util.Objects;
import java.util.Properties;
import java.util.Set;
import java.util.function.Supplier;

/** The limits of a software device, and the checks against them. */
public final class Limits {
    public static final int QUEUE_PAIRS = 1 << 20;
    public static final int REQUESTS = 1 << 16;
    public static final int ELEMENTS = 32;
    public static final int INLINE_DATA = 4096;
    public static final int COMPLETION_QUEUES = 1 << 16;
    public static final int COMPLETIONS = 1 << 22;
    public static final int REGIONS = 1 << 20;
    public static final int DOMAINS = 1 << 16;
    public static final int READ_ATOMIC = 128;
    public static final long MESSAGE = 1L << 31;
    public static final int ADDRESSES = 1024;
    public static final int COMPLETION_VECTORS = 1;
    public static final int WINDOWS = 1 << 18;
    public static final int SHARED_QUEUES = 1 << 16;
    public static final int SHARED_REQUESTS = 1 << 16;
    public static final int ADDRESS_HANDLES = 1 << 16;
    public static final int GROUPS = 1 << 10;
    public static final int GROUP_MEMBERS = 1 << 10;
    public static final long DEVICE_MEMORY = 1L << 26;
    public static final int MODERATION_COUNT = 1 << 16;
    public static final int MODERATION_US = 1 << 16;

    private static final String VERSION = version();
    private static final Map<DeviceLimit, Long> LIMITS = new EnumMap<>(DeviceLimit.class);

    static {
        LIMITS.put(DeviceLimit.MAX_MR_SIZE, Long.MAX_VALUE);
        LIMITS.put(DeviceLimit.PAGE_SIZE_CAP, 0xffff_f000L);
        LIMITS.put(DeviceLimit.MAX_QP, (long) QUEUE_PAIRS);
        LIMITS.put(DeviceLimit.MAX_QP_WR, (long) REQUESTS);
        LIMITS.put(DeviceLimit.MAX_SGE, (long) ELEMENTS);
        LIMITS.put(DeviceLimit.MAX_SGE_RD, (long) ELEMENTS);
        LIMITS.put(DeviceLimit.MAX_CQ, (long) COMPLETION_QUEUES);
        LIMITS.put(DeviceLimit.MAX_CQE, (long) COMPLETIONS);
        LIMITS.put(DeviceLimit.MAX_MR, (long) REGIONS);
        LIMITS.put(DeviceLimit.MAX_PD, (long) DOMAINS);
        LIMITS.put(DeviceLimit.MAX_QP_RD_ATOM, (long) READ_ATOMIC);
        LIMITS.put(DeviceLimit.MAX_RES_RD_ATOM, (long) READ_ATOMIC * QUEUE_PAIRS);
        LIMITS.put(DeviceLimit.MAX_QP_INIT_RD_ATOM, (long) READ_ATOMIC);
        LIMITS.put(DeviceLimit.MAX_MW, (long) WINDOWS);
        LIMITS.put(DeviceLimit.MAX_SRQ, (long) SHARED_QUEUES);
        LIMITS.put(DeviceLimit.MAX_SRQ_WR, (long) SHARED_REQUESTS);
        LIMITS.put(DeviceLimit.MAX_SRQ_SGE, (long) ELEMENTS);
    }

    private Limits() {}

    /**
     * {@return the attributes of a device}
     *
     * @param more capabilities in addition to those of all software devices
     * @param acknowledgeDelay 4.096 us times 2 to this power
     * @param further limits in addition to those of all software devices
     * @param onDemand the operations on on-demand paged memory, for each type of queue pair
     */
    public static DeviceAttributes attributes(long nodeGuid, Set<DeviceCapability> more,
            AtomicCapability atomics, int acknowledgeDelay, Map<DeviceLimit, Long> further,
            Map<QueuePairType, Set<OnDemandCapability>> onDemand) {
        Set<DeviceCapability> capabilities = EnumSet.of(DeviceCapability.PORT_ACTIVE_EVENT,
                DeviceCapability.CURR_QP_STATE_MOD, DeviceCapability.SYS_IMAGE_GUID,
                DeviceCapability.SRQ_RESIZE, DeviceCapability.N_NOTIFY_CQ,
                DeviceCapability.MEM_WINDOW, DeviceCapability.MEM_MGT_EXTENSIONS,
                DeviceCapability.MEM_WINDOW_TYPE_2B);
        capabilities.addAll(more);
        Map<DeviceLimit, Long> limits = new EnumMap<>(LIMITS);
        limits.putAll(further);
        return new ReportedDevice(VERSION, nodeGuid, nodeGuid, 0xffffff, 0, 0, 1,
                ReportedBits.of(capabilities, DeviceCapability::bit), atomics.code(),
                acknowledgeDelay, COMPLETION_VECTORS, limits, -1L, 1_000_000,
                MODERATION_COUNT, MODERATION_US,
                DEVICE_MEMORY, bits(onDemand));
    }

    private static Map<QueuePairType, Integer> bits(
            Map<QueuePairType, Set<OnDemandCapability>> onDemand) {
        Map<QueuePairType, Integer> bits = new EnumMap<>(QueuePairType.class);
        onDemand.forEach((type, operations) -> bits.put(type,
                ReportedBits.of(operations, OnDemandCapability::bit)));
        return bits;
    }

    /** {@return a new object} @throws RdmaException ENOMEM if there is not enough memory */
    static <T> T allocate(String operation, Supplier<T> constructor) throws RdmaException {
        try {
            return constructor.get();
        } catch (OutOfMemoryError e) {
            throw MemoryErrors.outOfMemory(operation, e);
        }
    }

    /** {@return the version of this build, which the build writes into the file} */
    private static String version() {
        Properties build = new Properties();
        try (InputStream file = Objects
                .requireNonNull(Limits.class.getResourceAsStream("version.properties"))) {
            build.load(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return build.getProperty("version");
    }

    /** @throws RdmaException EINVAL naming the value and its range */
    public static void checkRange(String operation, String what, long value, long lowest,
            long highest)
            throws RdmaException {
        if (value < lowest || value > highest) {
            throw new RdmaException(Errno.EINVAL, operation,
                    what + " must be from " + lowest + " to " + highest + ", not " + value);
        }
    }
}
