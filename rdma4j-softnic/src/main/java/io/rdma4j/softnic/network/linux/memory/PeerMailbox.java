// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.network.linux.memory;

import io.rdma4j.softnic.network.linux.calls.LinuxSocket;
import io.rdma4j.softnic.network.linux.calls.MemoryCalls;
import io.rdma4j.softnic.network.linux.calls.SharedPages;
import io.rdma4j.softnic.network.linux.sharing.MailboxTable;
import io.rdma4j.softnic.network.linux.sharing.SharedPort;
import io.rdma4j.softnic.network.ring.Mailbox;
import io.rdma4j.softnic.network.ring.PeerProcess;
import org.jspecify.annotations.Nullable;

import java.lang.foreign.MemorySegment;

/** The mailbox of another device, and the process that reads it. */
final class PeerMailbox implements PeerProcess {
    private static final System.Logger LOG = System.getLogger(PeerMailbox.class.getName());

    private final int prefix;
    private final SharedPort shared;
    private final SharedPages pages;
    private final MemorySegment head;
    private final WakePipe waker;

    /**
     * @param length of the mailbox
     * @throws LinuxSocket.Refused if this process may not open it, or it has gone
     */
    PeerMailbox(MailboxTable.Entry entry, long length, SharedPort shared)
            throws LinuxSocket.Refused {
        prefix = entry.prefix();
        this.shared = shared;
        pages = SharedPages.open(entry.process(), entry.memory(), length);
        try {
            head = pages.map(0, Mailbox.headLength());
            waker = WakePipe.open(entry.process(), entry.wake(), entry.wakeInode());
        } catch (LinuxSocket.Refused e) {
            pages.close();
            throw e;
        }
    }

    /** {@return the start of the mailbox} */
    MemorySegment head() {
        return head;
    }

    @Override
    public @Nullable MemorySegment map(long offset, long length) {
        try {
            return pages.map(offset, length);
        } catch (LinuxSocket.Refused e) {
            LOG.log(System.Logger.Level.DEBUG, "a ring cannot be mapped", e);
            return null;
        }
    }

    @Override
    public boolean wake() {
        return waker.wake();
    }

    @Override
    public boolean isAlive() {
        return shared.mayBeAlive(prefix);
    }

    @Override
    public void release(MemorySegment memory) {
        MemoryCalls.remove(memory);
    }

    @Override
    public void close() {
        waker.close();
        pages.close();
    }
}
