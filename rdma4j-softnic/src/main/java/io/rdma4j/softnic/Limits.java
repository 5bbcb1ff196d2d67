package io.rdma4j.softnic;

import io.rdma4j.verbs.AtomicCapability;
import io.rdma4j.verbs.DeviceAttributes;
import io.rdma4j.verbs.DeviceCapability;
import io.rdma4j.verbs.DeviceLimit;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;

import java.util.EnumMap;
import java.util.EnumSet;
import java.util.Map;

/** What a software device can do, and the checks against it. */
final class Limits {
    static final int QUEUE_PAIRS = 1 << 20;
    static final int REQUESTS = 1 << 16;
    static final int ELEMENTS = 32;
    static final int INLINE_DATA = 4096;
    static final int COMPLETION_QUEUES = 1 << 16;
    static final int COMPLETIONS = 1 << 22;
    static final int REGIONS = 1 << 20;
    static final int DOMAINS = 1 << 16;
    static final int READ_ATOMIC = 128;
    static final long MESSAGE = 1L << 31;
    static final int GID_TABLE = 1024;
    static final int COMPLETION_VECTORS = 1;

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
        LIMITS.put(DeviceLimit.MAX_PKEYS, 1L);
    }

    private Limits() {}

    static DeviceAttributes attributes(long nodeGuid) {
        return new DeviceAttributes(firmware(), nodeGuid, nodeGuid, 0xffffff, 0, 0, 1,
                EnumSet.of(DeviceCapability.BAD_PKEY_CNTR, DeviceCapability.PORT_ACTIVE_EVENT,
                        DeviceCapability.SYS_IMAGE_GUID, DeviceCapability.RC_RNR_NAK_GEN),
                AtomicCapability.NONE, 15, COMPLETION_VECTORS, LIMITS);
    }

    private static String firmware() {
        String version = Limits.class.getPackage().getImplementationVersion();
        return version == null ? "0.0.0" : version;
    }

    /** @throws RdmaException EINVAL naming the value and its range */
    static void checkRange(String operation, String what, long value, long lowest, long highest)
            throws RdmaException {
        if (value < lowest || value > highest) {
            throw new RdmaException(Errno.EINVAL, operation,
                    what + " must be from " + lowest + " to " + highest + ", not " + value);
        }
    }
}
