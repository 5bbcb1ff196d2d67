// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.verbs;

import io.rdma4j.verbs.AddressHandleAttributes;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.Gid;
import io.rdma4j.verbs.Mtu;
import io.rdma4j.verbs.PathMigrationState;
import io.rdma4j.verbs.QueuePairAttribute;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.RdmaException;

import java.util.List;

/** Whether this device can give a queue pair the attributes that a transition sets. */
final class ModifyChecks {
    private static final String OPERATION = "modify queue pair";

    private ModifyChecks() {}

    static void check(NicServices nic, QueuePairAttributes attributes) throws RdmaException {
        if (attributes.isSet(QueuePairAttribute.ALTERNATE_PATH)
                || (attributes.isSet(QueuePairAttribute.PATH_MIGRATION_STATE)
                        && attributes.pathMigrationState() != PathMigrationState.MIGRATED)) {
            throw RdmaException.unsupported(OPERATION,
                    "this device has no alternate paths (alt_ah_attr, path_mig_state)");
        }
        if (attributes.isSet(QueuePairAttribute.RATE_LIMIT)) {
            throw RdmaException.unsupported(OPERATION,
                    "this device does not pace packets (rate_limit)");
        }
        if (attributes.isSet(QueuePairAttribute.PORT)) {
            Limits.checkRange(OPERATION, "port_num", attributes.port(), 1, 1);
        }
        if (attributes.isSet(QueuePairAttribute.PKEY_INDEX)) {
            Limits.checkRange(OPERATION, "pkey_index", attributes.pkeyIndex(), 0, 0);
        }
        if (attributes.isSet(QueuePairAttribute.MAX_READ_ATOMIC)) {
            Limits.checkRange(OPERATION, "max_rd_atomic", attributes.maxReadAtomic(), 0,
                    Limits.READ_ATOMIC);
        }
        if (attributes.isSet(QueuePairAttribute.MAX_DESTINATION_READ_ATOMIC)) {
            Limits.checkRange(OPERATION, "max_dest_rd_atomic",
                    attributes.maxDestinationReadAtomic(), 0, Limits.READ_ATOMIC);
        }
        if (attributes.isSet(QueuePairAttribute.PATH_MTU)) {
            checkPathMtu(nic, attributes);
        }
        if (attributes.isSet(QueuePairAttribute.ADDRESS_VECTOR)) {
            checkPath(OPERATION, nic.port().gids(), attributes.addressVector());
            if (attributes.addressVector().destination().isMulticast()) {
                throw new RdmaException(Errno.EINVAL, OPERATION, "ah_attr.dgid "
                        + attributes.addressVector().destination().addressText()
                        + " is a multicast group; a connection has one peer");
            }
        }
    }

    private static void checkPathMtu(NicServices nic, QueuePairAttributes attributes)
            throws RdmaException {
        Mtu largest = attributes.isSet(QueuePairAttribute.ADDRESS_VECTOR)
                ? nic.largestMtu(attributes.addressVector().destination().isIpv4())
                : nic.activeMtu();
        if (attributes.pathMtu().compareTo(largest) > 0) {
            throw new RdmaException(Errno.EINVAL, OPERATION,
                    "path_mtu " + attributes.pathMtu().bytes() + " does not fit the interface; "
                            + largest.bytes() + " does");
        }
    }

    /** Whether packets can take a path. */
    static void checkPath(String operation, List<Gid> gids, AddressHandleAttributes path)
            throws RdmaException {
        if (!path.isGlobal()) {
            throw new RdmaException(Errno.EINVAL, operation,
                    "ah_attr has no global route, which RoCE needs");
        }
        Limits.checkRange(operation, "ah_attr.port_num", path.port(), 1, 1);
        int index = path.sourceGidIndex();
        if (index < 0 || index >= gids.size() || gids.get(index).isZero()) {
            throw new RdmaException(Errno.EINVAL, operation,
                    "ah_attr.sgid_index " + index + " is an empty entry of the GID table");
        }
        if (path.destination().isZero()) {
            throw new RdmaException(Errno.EINVAL, operation, "ah_attr.dgid is zero");
        }
        if (gids.get(index).isIpv4() != path.destination().isIpv4()) {
            throw new RdmaException(Errno.EINVAL, operation, "the GIDs " + gids.get(index) + " and "
                    + path.destination() + " are not of the same IP version");
        }
    }
}
