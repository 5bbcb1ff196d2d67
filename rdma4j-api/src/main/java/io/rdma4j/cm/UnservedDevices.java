// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.cm;

import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;

import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

/**
 * The devices that a wildcard listener does without. The log gets one line when a device begins to belong to them, and one when
 * the reason changes. For one thread at a time.
 */
final class UnservedDevices {
    private static final System.Logger LOG = System.getLogger(UnservedDevices.class.getName());

    /**
     * Why a device is not listened on.
     *
     * @param errno what was refused
     * @param detail as the log has been told
     */
    private record Reason(Errno errno, String detail) {}

    /** By name. */
    private final Map<String, Reason> reasons = new HashMap<>();

    /** A device cannot be opened, or cannot listen. */
    void add(String device, RdmaException refusal) {
        Reason reason = new Reason(refusal.errno(), refusal.detail());
        if (!Objects.equals(reasons.put(device, reason), reason)) {
            LOG.log(level(reason.errno()), "{0} is not listened on: {1}", device, reason.detail());
        }
    }

    /** {@return whether a device may be listened on later without a change that anybody reports} */
    boolean mayPass() {
        return reasons.values().stream().anyMatch(each -> mayPass(each.errno()));
    }

    private static boolean mayPass(Errno errno) {
        return switch (errno) {
            // Another process has something, or is stopped while it changes what processes share.
            case EADDRINUSE, EACCES, EBUSY, EAGAIN, ETIMEDOUT -> true;
            // This one, or the machine, has not enough of something.
            case EMFILE, ENFILE, ENOMEM, ENOBUFS -> true;
            // It went, or came, between two looks at the machine.
            case ENODEV, EADDRNOTAVAIL, ENETDOWN -> true;
            default -> false;
        };
    }

    private static System.Logger.Level level(Errno errno) {
        return switch (errno) {
            // A service that devices of its kind do not have.
            case EOPNOTSUPP -> System.Logger.Level.DEBUG;
            // It may pass: the addresses of an interface that comes up are tried out first.
            case EADDRNOTAVAIL, ENODEV -> System.Logger.Level.INFO;
            default -> System.Logger.Level.WARNING;
        };
    }

    /** A device is listened on. */
    void remove(String device) {
        reasons.remove(device);
    }

    /** There are these devices; of others nothing more is said. */
    void retain(Set<String> devices) {
        reasons.keySet().retainAll(devices);
    }
}
