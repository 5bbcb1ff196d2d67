// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.device;

import io.rdma4j.softnic.host.HostAddress;
import io.rdma4j.verbs.Gid;
import io.rdma4j.verbs.RdmaException;

import java.net.InetAddress;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

/**
 * The addresses of an interface that its device does not serve. The log gets one line when an address begins to belong to
 * them, one when the reason changes, and one when it is served. For one thread at a time.
 */
final class UnservedAddresses {
    private static final System.Logger LOG = System.getLogger(UnservedAddresses.class.getName());

    private final String device;
    /** Why, by address. */
    private final Map<Gid, String> reasons = new HashMap<>();

    UnservedAddresses(String device) {
        this.device = device;
    }

    /** An address cannot be had, though the system lets it be used. */
    void add(InetAddress address, RdmaException reason) {
        add(address, reason.detail(), System.Logger.Level.WARNING);
    }

    /** An address is served. */
    void remove(InetAddress address) {
        if (reasons.remove(Gid.of(address)) != null) {
            LOG.log(System.Logger.Level.INFO, "{0} serves {1} now", device,
                    address.getHostAddress());
        }
    }

    /** The interface looks like this: further addresses may not be usable, and others may have gone. */
    void update(PortView now) {
        Set<Gid> present = new HashSet<>();
        now.addresses().forEach(each -> present.add(Gid.of(each)));
        for (HostAddress each : now.unusable()) {
            present.add(Gid.of(each.address()));
            add(each.address(), "it " + each.state().text(), level(each.state()));
        }
        reasons.keySet().retainAll(present);
    }

    private static System.Logger.Level level(HostAddress.State state) {
        return switch (state) {
            // For a second or two after an interface has come up.
            case USABLE, DEPRECATED, TENTATIVE -> System.Logger.Level.INFO;
            case DUPLICATE -> System.Logger.Level.WARNING;
        };
    }

    private void add(InetAddress address, String reason, System.Logger.Level level) {
        if (!Objects.equals(reasons.put(Gid.of(address), reason), reason)) {
            LOG.log(level, "{0} does not serve {1}: {2}", device, address.getHostAddress(),
                    reason);
        }
    }
}
