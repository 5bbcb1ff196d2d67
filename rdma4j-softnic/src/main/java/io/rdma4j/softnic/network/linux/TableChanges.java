package io.rdma4j.softnic.network.linux;

import org.jspecify.annotations.Nullable;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.util.HashSet;
import java.util.Set;

/**
 * Counts the changes of the mailboxes in the {@link SharedTable}. Devices look at it before each packet, so it cannot be in
 * the table, whose file may be truncated: it is in pages whose length is sealed. Processes that can open each other's
 * mailboxes can open these pages too, and share them: the first one makes them. Where there are several, as after the
 * table was damaged, each change is counted in all.
 */
final class TableChanges implements MailboxTable.Changes, AutoCloseable {
    private static final System.Logger LOG = System.getLogger(TableChanges.class.getName());
    private static final long LENGTH = 4096;
    private static final VarHandle INT = ValueLayout.JAVA_INT.varHandle();

    private final SharedTable table;
    private final Prefixes prefixes;
    private final MemorySegment counter;
    /** Null if only this process has the counter. */
    private final @Nullable SharedPages pages;
    private final long inode;

    private TableChanges(SharedTable table, Prefixes prefixes, MemorySegment counter,
            @Nullable SharedPages pages, long inode) {
        this.table = table;
        this.prefixes = prefixes;
        this.counter = counter;
        this.pages = pages;
        this.inode = inode;
    }

    /** {@return the counter that other processes have, or a new one} Under the lock. */
    static TableChanges of(SharedTable table, Prefixes prefixes) {
        try {
            long[] inodes = table.counters();
            for (int other = SharedTable.FIRST_PREFIX; other < inodes.length; other++) {
                SharedPages found = inodes[other] == 0 ? null
                        : find(table, prefixes, other, inodes[other]);
                if (found != null) {
                    return of(table, prefixes, found);
                }
            }
            return of(table, prefixes, SharedPages.create("rdma4j-changes", LENGTH));
        } catch (LinuxSocket.Refused | LinkageError e) {
            // Then there are no mailboxes either.
            LOG.log(System.Logger.Level.DEBUG, "changes of the table are not counted", e);
            return new TableChanges(table, prefixes, MemorySegment.ofArray(new int[1]), null, 0);
        }
    }

    private static TableChanges of(SharedTable table, Prefixes prefixes, SharedPages pages)
            throws LinuxSocket.Refused {
        try {
            return new TableChanges(table, prefixes, pages.map(0, LENGTH), pages,
                    ProcessFiles.inode(pages.descriptor()));
        } catch (LinuxSocket.Refused e) {
            pages.close();
            throw e;
        }
    }

    /** {@return the counter of another process, null if it cannot be opened} */
    private static @Nullable SharedPages find(SharedTable table, Prefixes prefixes, int other,
            long inode) {
        if (!prefixes.mayBeAlive(other)) {
            return null;
        }
        try {
            SharedPages pages = SharedPages.open(table.process(other),
                    table.counterDescriptor(other), LENGTH);
            if (ProcessFiles.inode(pages.descriptor()) == inode) {
                return pages;
            }
            pages.close();
        } catch (LinuxSocket.Refused e) {
            // Another container's, whose mailboxes cannot be opened either.
            LOG.log(System.Logger.Level.DEBUG, "changes are not told to a process", e);
        }
        return null;
    }

    /** Names it in the table, for others to find. */
    void enter(int prefix) {
        if (pages != null) {
            table.counter(prefix, pages.descriptor(), inode);
        }
    }

    /** {@return whether the table names it for a prefix} */
    boolean isEntered(int prefix) {
        return pages == null || (table.counter(prefix) == inode
                && table.counterDescriptor(prefix) == pages.descriptor());
    }

    @Override
    public int count() {
        return (int) INT.getAcquire(counter, 0L);
    }

    @Override
    public void announce() {
        increase(counter);
        long[] inodes = table.counters();
        Set<Long> told = new HashSet<>(Set.of(0L, inode));
        for (int other = SharedTable.FIRST_PREFIX; other < inodes.length; other++) {
            if (told.contains(inodes[other])) {
                continue;
            }
            SharedPages found = find(table, prefixes, other, inodes[other]);
            if (found != null) {
                told.add(inodes[other]);
                increase(found);
            }
        }
    }

    private static void increase(SharedPages others) {
        try {
            increase(others.map(0, LENGTH));
        } catch (LinuxSocket.Refused e) {
            LOG.log(System.Logger.Level.DEBUG, "a process does not learn of a change", e);
        } finally {
            others.close();
        }
    }

    private static void increase(MemorySegment counter) {
        int _ = (int) INT.getAndAdd(counter, 0L, 1);
    }

    @Override
    public void close() {
        if (pages != null) {
            pages.close();
        }
    }
}
