// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.network.linux.memory;

import io.rdma4j.softnic.network.linux.sharing.MailboxTable;
import io.rdma4j.softnic.network.ring.RingPath;
import io.rdma4j.verbs.Gid;
import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The devices whose mailboxes are in the {@link MailboxTable}, with the paths to those that were looked for. For the owner of the
 * engine, but for {@link #paths}.
 */
final class PeerDevices implements AutoCloseable {
    private static final PeerDevice[] NONE = {};

    private final MailboxTable table;
    private final int interfaceIndex;
    private final Opening opening;
    private final Map<Long, PeerDevice> byNonce = new HashMap<>();
    private Map<Gid, PeerDevice[]> byAddress = Map.of();
    /** Replaced, not changed, because a thread that goes to sleep reads it. */
    private volatile RingPath[] paths = {};
    private int seenChanges;

    /** Opens the path to a mailbox. */
    @FunctionalInterface
    interface Opening {
        /** {@return the path, null if that device has none for this one} */
        @Nullable
        RingPath open(MailboxTable.Entry entry);
    }

    /** Another device, and the path to it once it was looked for. */
    static final class PeerDevice {
        final MailboxTable.Entry entry;
        private boolean isTried;
        private @Nullable RingPath path;

        PeerDevice(MailboxTable.Entry entry) {
            this.entry = entry;
        }
    }

    /** @param interfaceIndex that of this device; mailboxes of other interfaces count only if they are for all */
    PeerDevices(MailboxTable table, int interfaceIndex, Opening opening) {
        this.table = table;
        this.interfaceIndex = interfaceIndex;
        this.opening = opening;
        seenChanges = table.changes() - 1;
    }

    /** {@return how often the table had changed when it was looked at last} */
    int seenChanges() {
        return seenChanges;
    }

    /** Looks at the table, if anything in it has changed, and closes the paths to devices that have left it. {@return whether it has} */
    boolean refresh() {
        int changes = table.changes();
        if (changes == seenChanges) {
            return false;
        }
        seenChanges = changes;
        Map<Long, PeerDevice> present = new HashMap<>();
        Map<Gid, List<PeerDevice>> found = new HashMap<>();
        for (MailboxTable.Entry entry : table.all()) {
            if (entry.scope() == 0 || entry.scope() == interfaceIndex) {
                PeerDevice device = present.computeIfAbsent(entry.nonce(), _ -> known(entry));
                found.computeIfAbsent(entry.address(), _ -> new ArrayList<>()).add(device);
            }
        }
        for (PeerDevice before : byNonce.values()) {
            if (before.path != null && present.get(before.entry.nonce()) != before) {
                before.path.close();
            }
        }
        byNonce.clear();
        byNonce.putAll(present);
        Map<Gid, PeerDevice[]> byAddressNow = new HashMap<>();
        found.forEach((address, those) -> byAddressNow.put(address, those.toArray(NONE)));
        byAddress = byAddressNow;
        findOpen();
        return true;
    }

    private PeerDevice known(MailboxTable.Entry entry) {
        PeerDevice before = byNonce.get(entry.nonce());
        if (before == null || before.path == null || !before.path.isOpen()
                || before.entry.prefix() != entry.prefix()) {
            // One that refused may accept now; and while an entry is replaced, a look may take its prefix for that of
            // the process that was there before.
            return new PeerDevice(entry);
        }
        return before;
    }

    /** {@return the device that has an address in the process of a prefix, null if there is none} */
    @Nullable
    PeerDevice find(Gid address, int prefix) {
        PeerDevice[] candidates = byAddress.get(address);
        if (candidates == null) {
            return null;
        }
        for (PeerDevice device : candidates) {
            if (device.entry.prefix() == prefix) {
                return device;
            }
        }
        return null;
    }

    /** {@return the device of a nonce, null if there is none} */
    @Nullable
    PeerDevice find(long nonce) {
        return byNonce.get(nonce);
    }

    /** {@return the path to a device, opened when it is asked for first; null if it has none for this one} */
    @Nullable
    RingPath pathTo(PeerDevice device) {
        if (!device.isTried) {
            device.isTried = true;
            device.path = opening.open(device.entry);
            findOpen();
        }
        RingPath path = device.path;
        return path != null && path.isOpen() ? path : null;
    }

    /** {@return the open paths} For any thread. */
    RingPath[] paths() {
        return paths;
    }

    private void findOpen() {
        paths = byNonce.values().stream().map(each -> each.path)
                .filter(path -> path != null && path.isOpen()).toArray(RingPath[]::new);
    }

    Set<Long> nonces() {
        return byNonce.keySet();
    }

    /** {@return the inodes of the pipes that wake them} */
    Set<Long> wakeInodes() {
        Set<Long> inodes = new HashSet<>();
        byNonce.values().forEach(each -> inodes.add(each.entry.wakeInode()));
        return inodes;
    }

    /** Closes the paths to the devices of a process. {@return the inodes of the pipes that would wake them} */
    Set<Long> closePaths(int prefix) {
        Set<Long> inodes = new HashSet<>();
        for (PeerDevice device : byNonce.values()) {
            if (device.entry.prefix() == prefix) {
                if (device.path != null) {
                    device.path.close();
                }
                inodes.add(device.entry.wakeInode());
            }
        }
        findOpen();
        return inodes;
    }

    @Override
    public void close() {
        for (RingPath path : paths) {
            path.close();
        }
    }
}
