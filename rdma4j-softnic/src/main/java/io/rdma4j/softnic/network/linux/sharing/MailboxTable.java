// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.network.linux.sharing;

import io.rdma4j.softnic.network.linux.calls.ProcessIdentity;
import io.rdma4j.verbs.Gid;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;

/**
 * The part of the {@link SharedTable} that lists the mailbox of the device of each address. It is changed under the lock of
 * {@link SharedPort} and read without it, so a reader may see an incomplete entry. That does no harm, because each mailbox
 * names its owner, and the reader sees afterwards that something has changed.
 */
public final class MailboxTable {
    /** One for each address of each device. */
    private static final int MAX_ENTRIES = 2048;
    private static final long ENTRY_LENGTH = 64;
    /** 0 for an entry that is free. */
    private static final long PREFIX = 0;
    private static final long SCOPE = 4;
    private static final long ADDRESS = 8;
    private static final long PROCESS = 24;
    private static final long NONCE = 32;
    private static final long MEMORY = 40;
    private static final long WAKE = 44;
    private static final long WAKE_INODE = 48;
    static final long LENGTH = MAX_ENTRIES * ENTRY_LENGTH;

    /**
     * The mailbox of the device of an address.
     *
     * @param scope the interface of a link-local address, else 0
     * @param prefix the first prefix of its process's queue pair numbers
     * @param process as {@link ProcessIdentity} names it
     * @param nonce identifies the mailbox
     * @param memory the file descriptor, in that process, of its memory
     * @param wake the file descriptor, in that process, of its wake-up pipe
     * @param wakeInode the inode of that file
     */
    public record Entry(Gid address, int scope, int prefix, long process, long nonce, int memory,
            int wake,
            long wakeInode) {}

    private final TableMemory table;
    private final long start;
    private final long changesAt;

    /**
     * @param start where its {@link #LENGTH} bytes begin, zeros at first
     * @param changesAt where the changes are counted
     */
    MailboxTable(TableMemory table, long start, long changesAt) {
        this.table = table;
        this.start = start;
        this.changesAt = changesAt;
    }

    /** {@return a number that changes whenever an entry does} For any thread, without the lock. */
    public int changes() {
        return table.intAt(changesAt);
    }

    /** Something has changed that readers have to look at again. Under the lock. */
    void announce() {
        table.increase(changesAt);
    }

    /** {@return all entries} For any thread, without the lock. */
    public List<Entry> all() {
        List<Entry> all = new ArrayList<>();
        int[] prefixes = prefixes();
        for (int i = 0; i < MAX_ENTRIES; i++) {
            if (prefixes[i] != SharedTable.NOBODY) {
                all.add(entry(i, prefixes[i]));
            }
        }
        return all;
    }

    /** {@return whether an entry is there} For any thread, without the lock. */
    boolean has(Entry wanted) {
        for (int i = 0; i < MAX_ENTRIES; i++) {
            if (table.intAt(at(i) + PREFIX) == wanted.prefix()
                    && entry(i, wanted.prefix()).equals(wanted)) {
                return true;
            }
        }
        return false;
    }

    /** {@return the prefix in each entry, that of nobody in one that is free or has no valid prefix} */
    private int[] prefixes() {
        // Copied as a whole: most entries are free.
        ByteBuffer copy = table.copy(start, (int) LENGTH);
        int[] prefixes = new int[MAX_ENTRIES];
        for (int i = 0; i < MAX_ENTRIES; i++) {
            int prefix = copy.getInt((int) (i * ENTRY_LENGTH + PREFIX));
            boolean isValid = prefix >= SharedTable.FIRST_PREFIX
                    && prefix <= SharedTable.LAST_PREFIX;
            prefixes[i] = isValid ? prefix : SharedTable.NOBODY;
        }
        return prefixes;
    }

    private Entry entry(int i, int prefix) {
        long at = at(i);
        return new Entry(new Gid(table.longAt(at + ADDRESS), table.longAt(at + ADDRESS + 8)),
                table.intAt(at + SCOPE), prefix, table.longAt(at + PROCESS),
                table.longAt(at + NONCE), table.intAt(at + MEMORY), table.intAt(at + WAKE),
                table.longAt(at + WAKE_INODE));
    }

    /** Adds an entry. {@return false if there is no room} */
    boolean add(Entry entry) {
        int[] prefixes = prefixes();
        for (int i = 0; i < MAX_ENTRIES; i++) {
            if (prefixes[i] == SharedTable.NOBODY) {
                write(at(i), entry);
                announce();
                return true;
            }
        }
        return false;
    }

    private void write(long at, Entry entry) {
        table.intAt(at + SCOPE, entry.scope());
        table.longAt(at + ADDRESS, entry.address().high());
        table.longAt(at + ADDRESS + 8, entry.address().low());
        table.longAt(at + PROCESS, entry.process());
        table.longAt(at + NONCE, entry.nonce());
        table.intAt(at + MEMORY, entry.memory());
        table.intAt(at + WAKE, entry.wake());
        table.longAt(at + WAKE_INODE, entry.wakeInode());
        table.intAt(at + PREFIX, entry.prefix());
    }

    /** Removes the entry of a mailbox for an address. */
    void remove(Entry entry) {
        removeIf(each -> each.nonce() == entry.nonce() && each.scope() == entry.scope()
                && each.address().equals(entry.address()));
    }

    /** Removes entries. */
    void removeIf(Predicate<Entry> condition) {
        boolean isAny = false;
        int[] prefixes = prefixes();
        for (int i = 0; i < MAX_ENTRIES; i++) {
            if (prefixes[i] != SharedTable.NOBODY && condition.test(entry(i, prefixes[i]))) {
                table.intAt(at(i) + PREFIX, SharedTable.NOBODY);
                isAny = true;
            }
        }
        if (isAny) {
            announce();
        }
    }

    private long at(int entry) {
        return start + entry * ENTRY_LENGTH;
    }
}
