package io.rdma4j.softnic.network.linux;

import io.rdma4j.verbs.Gid;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.util.ArrayList;
import java.util.List;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

/**
 * The part of the {@link SharedTable} that lists the mailbox of the device of each address. It is changed under the lock of
 * {@link SharedPort} and read without it, so a reader may see an incomplete entry. That does no harm, because each mailbox
 * names its owner, and the reader sees afterwards that something has changed.
 */
final class MailboxTable {
    /** One for each address of each device. */
    private static final int MAX_ENTRIES = 2048;
    private static final long CHANGES_AT = 0;
    private static final long ENTRIES_AT = 64;
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
    static final long LENGTH = ENTRIES_AT + MAX_ENTRIES * ENTRY_LENGTH;
    private static final VarHandle INT = ValueLayout.JAVA_INT.varHandle();

    /**
     * The mailbox of the device of an address.
     *
     * @param scope the interface of a link-local address, else 0
     * @param prefix the first prefix of its process's queue pair numbers
     * @param process the process ID
     * @param nonce identifies the mailbox
     * @param memory the file descriptor, in that process, of its memory
     * @param wake the file descriptor, in that process, of its wake-up pipe
     * @param wakeInode the inode of that file
     */
    record Entry(Gid address, int scope, int prefix, long process, long nonce, int memory, int wake,
            long wakeInode) {}

    private final MemorySegment table;

    /** @param table {@link #LENGTH} bytes, zeros at first */
    MailboxTable(MemorySegment table) {
        this.table = table;
    }

    /** {@return a number that changes whenever an entry does} For any thread, without the lock. */
    int changes() {
        return (int) INT.getAcquire(table, CHANGES_AT);
    }

    /** {@return all entries} For any thread, without the lock. */
    List<Entry> all() {
        List<Entry> all = new ArrayList<>();
        for (int i = 0; i < MAX_ENTRIES; i++) {
            long at = at(i);
            int prefix = (int) INT.getAcquire(table, at + PREFIX);
            if (prefix != 0) {
                all.add(new Entry(
                        new Gid(table.get(JAVA_LONG, at + ADDRESS),
                                table.get(JAVA_LONG, at + ADDRESS + 8)),
                        table.get(JAVA_INT, at + SCOPE), prefix & 0xff,
                        table.get(JAVA_LONG, at + PROCESS), table.get(JAVA_LONG, at + NONCE),
                        table.get(JAVA_INT, at + MEMORY), table.get(JAVA_INT, at + WAKE),
                        table.get(JAVA_LONG, at + WAKE_INODE)));
            }
        }
        return all;
    }

    /** Adds an entry. {@return false if there is no room} */
    boolean add(Entry entry) {
        for (int i = 0; i < MAX_ENTRIES; i++) {
            long at = at(i);
            if (table.get(JAVA_INT, at + PREFIX) == 0) {
                table.set(JAVA_INT, at + SCOPE, entry.scope());
                table.set(JAVA_LONG, at + ADDRESS, entry.address().high());
                table.set(JAVA_LONG, at + ADDRESS + 8, entry.address().low());
                table.set(JAVA_LONG, at + PROCESS, entry.process());
                table.set(JAVA_LONG, at + NONCE, entry.nonce());
                table.set(JAVA_INT, at + MEMORY, entry.memory());
                table.set(JAVA_INT, at + WAKE, entry.wake());
                table.set(JAVA_LONG, at + WAKE_INODE, entry.wakeInode());
                INT.setRelease(table, at + PREFIX, entry.prefix());
                int _ = (int) INT.getAndAdd(table, CHANGES_AT, 1);
                return true;
            }
        }
        return false;
    }

    /** Removes the entry of a mailbox for an address. */
    void remove(Entry entry) {
        for (int i = 0; i < MAX_ENTRIES; i++) {
            long at = at(i);
            if (table.get(JAVA_INT, at + PREFIX) != 0
                    && table.get(JAVA_LONG, at + NONCE) == entry.nonce()
                    && table.get(JAVA_INT, at + SCOPE) == entry.scope()
                    && table.get(JAVA_LONG, at + ADDRESS) == entry.address().high()
                    && table.get(JAVA_LONG, at + ADDRESS + 8) == entry.address().low()) {
                INT.setRelease(table, at + PREFIX, 0);
                int _ = (int) INT.getAndAdd(table, CHANGES_AT, 1);
            }
        }
    }

    private static long at(int entry) {
        return ENTRIES_AT + entry * ENTRY_LENGTH;
    }
}
