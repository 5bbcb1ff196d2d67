// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.network.linux.sharing;

import io.rdma4j.softnic.network.linux.calls.LinuxCalls;
import io.rdma4j.softnic.network.linux.calls.LinuxSocket;
import io.rdma4j.softnic.network.linux.calls.ProcessFiles;
import io.rdma4j.softnic.network.linux.calls.ProcessIdentity;
import io.rdma4j.softnic.network.linux.calls.SharedPages;
import io.rdma4j.softnic.network.linux.calls.UnixSocket;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;
import org.jspecify.annotations.Nullable;

import java.nio.file.Path;
import java.util.concurrent.locks.LockSupport;

/**
 * Where the processes of one user in one network namespace find the {@link SharedTable}: an abstract Unix socket. Its name
 * is seen in the whole network namespace, whatever files, variables and processes somebody sees there, and nowhere else.
 *
 * <p>Who binds the name first makes the table, as memory without a name. Whoever comes later connects and is given the
 * table, and the listening socket itself: all have the same one open, so any of them can answer, and the name lasts as long
 * as one of them lives. The system tells both sides whose process the other is, and who is of another user gets nothing.
 *
 * <p>Those that answer may all be stopped, or ending. Then the table is found as a file that they have open, if they are to be
 * seen; the socket follows with a later {@link #check}. Until then whoever found it so answers at a second name: the first may become
 * free meanwhile, and who binds it then asks at the second one before it makes another table.
 */
final class TableSocket implements AutoCloseable {
    /** The kind of the message: "rdma4jp1". It and the version stay as they are in all versions. */
    static final long TABLE = 0x7264_6d61_346a_7031L;
    /** Longer than who runs needs to answer, unless the machine is very busy; then the table is found otherwise, or later. */
    private static final long ANSWER_NS = 200_000_000;
    /** Who made the table and is still at it, or answers slowly. */
    private static final long MAX_SEARCH_NS = 5_000_000_000L;
    private static final long REST_NS = 500_000;

    private final String name;
    private final SharedPages table;
    /** Null until the socket is received, after the table was found otherwise. */
    private @Nullable TableAnswers answers;
    /** At the second name, while there are none at the first. */
    private @Nullable TableAnswers secondAnswers;

    /**
     * What a process gets.
     *
     * @param listener of the first name, null if nobody answers there
     * @param second of the second name, null if it is not needed, or nobody answers there either
     */
    private record Found(SharedPages table, @Nullable UnixSocket listener,
            @Nullable UnixSocket second) {
        void close() {
            table.close();
            if (listener != null) {
                listener.close();
            }
            if (second != null) {
                second.close();
            }
        }
    }

    private TableSocket(String name, Found found) {
        this.name = name;
        table = found.table;
        if (found.second != null) {
            secondAnswers = answersOf(found.second);
        }
        if (found.listener != null) {
            answer(found.listener);
        }
    }

    private TableAnswers answersOf(UnixSocket listener) {
        return new TableAnswers(listener, new UnixSocket.Message(TABLE, SharedTable.VERSION,
                ProcessIdentity.own(), table.descriptor(), listener.descriptor()));
    }

    private void answer(UnixSocket listener) {
        answers = answersOf(listener);
        if (secondAnswers != null) {
            secondAnswers.close();
            secondAnswers = null;
        }
    }

    /** {@return the name at which the processes of this user meet} */
    static String nameOfUser() throws LinuxSocket.Refused {
        return "rdma4j-" + ProcessFiles.user();
    }

    /**
     * Finds the table, or makes it.
     *
     * @throws RdmaException EBUSY if nobody answers or another version of this library does, EACCES if another user has the
     *         name, ENOMEM if there is no room for the table
     */
    static TableSocket join(String name) throws LinuxSocket.Refused, RdmaException {
        return join(name, MAX_SEARCH_NS);
    }

    /** As above, with another patience. */
    static TableSocket join(String name, long patienceNs)
            throws LinuxSocket.Refused, RdmaException {
        long untilNs = System.nanoTime() + patienceNs;
        while (true) {
            UnixSocket listener = UnixSocket.listen(name);
            Found found = listener == null ? find(name) : at(name, listener);
            TableSocket joined = found == null ? null : joined(name, found);
            if (joined != null) {
                return joined;
            }
            if (System.nanoTime() - untilNs > 0) {
                throw new RdmaException(Errno.EBUSY, SharedTable.OPERATION,
                        "the processes that share addresses do not answer, and are stopped"
                                + " perhaps: let them go on, or end them");
            }
            LockSupport.parkNanos(REST_NS);
        }
    }

    /** {@return null if the first name has become free meanwhile, and somebody has it with another table} */
    private static @Nullable TableSocket joined(String name, Found found)
            throws LinuxSocket.Refused, RdmaException {
        TableSocket joined = new TableSocket(name, found);
        boolean isCommon = false;
        try {
            isCommon = joined.check();
            return isCommon ? joined : null;
        } finally {
            if (!isCommon) {
                joined.close();
            }
        }
    }

    /** {@return the table for who has got the first name: that of those who only answer at the second, or a new one} */
    private static Found at(String name, UnixSocket listener)
            throws LinuxSocket.Refused, RdmaException {
        boolean hasTable = false;
        try {
            Found present = findAtSecond(name);
            SharedPages pages = present == null ? made(name) : present.table;
            if (present != null && present.second != null) {
                present.second.close();
            }
            hasTable = true;
            return new Found(pages, listener, null);
        } finally {
            if (!hasTable) {
                listener.close();
            }
        }
    }

    private static SharedPages made(String name) throws LinuxSocket.Refused, RdmaException {
        SharedPages pages = SharedPages.create(memoryName(name), SharedTable.LENGTH);
        boolean isFilled = false;
        try {
            fill(pages);
            isFilled = true;
            return pages;
        } finally {
            if (!isFilled) {
                pages.close();
            }
        }
    }

    private static void fill(SharedPages pages) throws RdmaException {
        try {
            pages.fill(SharedTable.LENGTH);
        } catch (LinuxSocket.Refused e) {
            throw new RdmaException(Errno.ENOMEM, SharedTable.OPERATION, "there is no room for "
                    + (SharedTable.LENGTH >> 10) + " KiB that processes share: " + e.getMessage(),
                    e);
        }
    }

    /** For those who look for it among the open files of a process. */
    static String memoryName(String name) {
        return name + "-table-" + SharedTable.VERSION;
    }

    /** Where those answer who found the table among the files of others. */
    static String secondName(String name) {
        return name + "-found";
    }

    /** {@return the table of those who have the name, null if they are gone by now or do not answer} */
    private static @Nullable Found find(String name)
            throws LinuxSocket.Refused, RdmaException {
        try {
            return ask(name);
        } catch (LinuxSocket.Refused e) {
            if (isSilence(e)) {
                return findOtherwise(name);
            }
            if (e.errno() == LinuxCalls.ECONNREFUSED) {
                return null;
            }
            throw e;
        }
    }

    /** {@return the table of those who do not answer at the first name, null if there is none} */
    private static @Nullable Found findOtherwise(String name)
            throws LinuxSocket.Refused, RdmaException {
        // Before the table is looked for: who gets the first name from now on asks here, and waits.
        UnixSocket second = UnixSocket.listen(secondName(name));
        if (second == null) {
            return findAtSecond(name);
        }
        SharedPages found = null;
        try {
            found = findAmongFiles(name);
        } finally {
            if (found == null) {
                second.close();
            }
        }
        return found == null ? null : new Found(found, null, second);
    }

    private static @Nullable SharedPages findAmongFiles(String name) throws LinuxSocket.Refused {
        return SharedPages.find(memoryName(name), SharedTable.LENGTH);
    }

    /** {@return the table of those who have the second name, null if nobody has it} */
    private static @Nullable Found findAtSecond(String name)
            throws LinuxSocket.Refused, RdmaException {
        try {
            Found answered = ask(secondName(name));
            return answered == null ? null : new Found(answered.table, null, answered.listener);
        } catch (LinuxSocket.Refused e) {
            if (isSilence(e)) {
                SharedPages found = findAmongFiles(name);
                return found == null ? null : new Found(found, null, null);
            }
            if (e.errno() == LinuxCalls.ECONNREFUSED) {
                return null;
            }
            throw e;
        }
    }

    private static boolean isSilence(LinuxSocket.Refused refused) {
        return refused.errno() == LinuxCalls.EAGAIN || refused.errno() == LinuxCalls.EINTR;
    }

    /** {@return the table that is handed over, null if who listened has ended meanwhile} */
    private static @Nullable Found ask(String name)
            throws LinuxSocket.Refused, RdmaException {
        try (UnixSocket connection = UnixSocket.connect(name, ANSWER_NS)) {
            UnixSocket.Peer peer = connection.peer();
            if (!peer.isOfThisUser()) {
                throw foreign(peer);
            }
            UnixSocket.Message answer = connection.receive();
            if (answer != null && answer.kind() != TABLE) {
                answer.close();
                throw foreign(peer);
            }
            return answer == null ? null : taken(answer);
        }
    }

    private static RdmaException foreign(UnixSocket.Peer peer) {
        return new RdmaException(Errno.EACCES, SharedTable.OPERATION,
                (peer.process() == 0 ? "a process" : "process " + peer.process()) + " of user "
                        + peer.user() + " has the name by which the processes of this user find"
                        + " each other: end it");
    }

    private static Found taken(UnixSocket.Message answer)
            throws LinuxSocket.Refused, RdmaException {
        if (answer.number() != SharedTable.VERSION) {
            answer.close();
            throw new RdmaException(Errno.EBUSY, SharedTable.OPERATION,
                    ProcessIdentity.text(answer.sender())
                            + " shares it by the rules of another version of rdma4j ("
                            + answer.number() + ", not " + SharedTable.VERSION
                            + "): end it, or use the same version");
        }
        if (answer.descriptors().length != 2) {
            answer.close();
            throw new LinuxSocket.Refused(LinuxCalls.EMFILE, "recvmsg of open files");
        }
        UnixSocket listener = UnixSocket.of(answer.descriptors()[1]);
        try {
            return new Found(SharedPages.of(answer.descriptors()[0], SharedTable.LENGTH),
                    listener, null);
        } catch (LinuxSocket.Refused e) {
            listener.close();
            throw e;
        }
    }

    /** {@return the memory of the table} */
    SharedPages pages() {
        return table;
    }

    /** {@return a path to that memory, to open it once more} */
    Path path() {
        return Path.of("/proc/self/fd/" + table.descriptor());
    }

    /**
     * Makes sure that processes that start from now on find the table. About once a second.
     *
     * @return false if they find another one
     */
    synchronized boolean check() throws LinuxSocket.Refused, RdmaException {
        if (answers != null) {
            answers.tryToStart();
            return true;
        }
        if (secondAnswers != null) {
            secondAnswers.tryToStart();
        }
        // Who had the name did not answer, and may have ended.
        UnixSocket free = UnixSocket.listen(name);
        if (free != null) {
            answer(free);
            return true;
        }
        Found present = null;
        try {
            present = ask(name);
        } catch (LinuxSocket.Refused e) {
            if (!isSilence(e) && e.errno() != LinuxCalls.ECONNREFUSED) {
                throw e;
            }
        }
        if (present == null || present.listener == null) {
            return true;
        }
        if (isSame(present.table)) {
            answer(present.listener);
            present.table.close();
            return true;
        }
        present.close();
        return false;
    }

    private boolean isSame(SharedPages other) throws LinuxSocket.Refused {
        return ProcessFiles.inode(other.descriptor()) == ProcessFiles.inode(table.descriptor());
    }

    @Override
    public synchronized void close() {
        if (answers != null) {
            answers.close();
            answers = null;
        }
        if (secondAnswers != null) {
            secondAnswers.close();
            secondAnswers = null;
        }
        table.close();
    }
}
