// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.network.linux.sharing;

import io.rdma4j.softnic.network.linux.calls.LinuxSocket;

import java.util.BitSet;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;

/**
 * The mailboxes of this process in the {@link MailboxTable}: which it should have, and which are to leave it as soon as the lock is free.
 * Thread safe.
 */
final class PublishedMailboxes {
    private final MailboxTable mailboxes;
    private final Prefixes prefixes;
    private final int prefix;
    /** Those that the table should have. */
    private final Set<MailboxTable.Entry> published = ConcurrentHashMap.newKeySet();
    private final Queue<MailboxTable.Entry> withdrawn = new ConcurrentLinkedQueue<>();

    /** @param prefix that this process began with */
    PublishedMailboxes(MailboxTable mailboxes, Prefixes prefixes, int prefix) {
        this.mailboxes = mailboxes;
        this.prefixes = prefixes;
        this.prefix = prefix;
    }

    /** {@return the table, to be looked at without the lock} */
    MailboxTable table() {
        return mailboxes;
    }

    /** Adds one. Under the lock. {@return false if there is no room} */
    boolean add(MailboxTable.Entry mailbox) throws LinuxSocket.Refused {
        forgetTheDead();
        boolean isAdded = mailboxes.add(mailbox);
        if (isAdded) {
            published.add(mailbox);
        }
        return isAdded;
    }

    private void forgetTheDead() throws LinuxSocket.Refused {
        List<MailboxTable.Entry> all = mailboxes.all();
        BitSet dead = prefixes.dead(all.stream().map(MailboxTable.Entry::prefix).toList());
        if (!dead.isEmpty()) {
            mailboxes.removeIf(each -> dead.get(each.prefix()));
        }
    }

    /** One is not to be found any more; {@link #enterChanges} removes it. */
    void withdraw(MailboxTable.Entry mailbox) {
        published.remove(mailbox);
        withdrawn.add(mailbox);
    }

    /** Removes those that were withdrawn. Under the lock. */
    void enterChanges() {
        for (MailboxTable.Entry mailbox = withdrawn.poll(); mailbox != null; mailbox = withdrawn
                .poll()) {
            mailboxes.remove(mailbox);
        }
    }

    /** Removes those of a process that had the prefix before. Under the lock. */
    void forgetPredecessor(int prefixTaken) {
        mailboxes.removeIf(each -> each.prefix() == prefixTaken);
    }

    /** {@return whether the table has all of them} Without the lock, so only probably. */
    boolean isIntact() {
        return published.stream().allMatch(mailboxes::has);
    }

    /** Enters again what the table should have, and nothing else of this process. Under the lock. */
    void restore() {
        mailboxes.removeIf(each -> each.prefix() == prefix && !published.contains(each));
        for (MailboxTable.Entry each : published) {
            if (!mailboxes.has(each)) {
                // Whoever does not find it uses the network.
                boolean _ = mailboxes.add(each);
            }
        }
        mailboxes.announce();
    }
}
