// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.network.linux.calls;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.StringTokenizer;

/**
 * Information about other processes of the user, which {@link ProcessIdentity} names. Source: proc_pid_fd(5),
 * proc_pid_stat(5), proc_pid_status(5), user_namespaces(7).
 */
public final class ProcessFiles {
    private static final Path PROC = Path.of("/proc");

    private ProcessFiles() {}

    /**
     * {@return the number of the user that this process acts for, in the user namespace around its own if it has one}
     * Processes of one user in several containers have the same one, if the containers are no deeper than that.
     */
    public static long user() throws LinuxSocket.Refused {
        try {
            long own = effectiveUser();
            for (String line : Files.readAllLines(PROC.resolve("self/uid_map"))) {
                // The first number inside, the first outside, how many.
                StringTokenizer words = new StringTokenizer(line);
                long offset = own - Long.parseLong(words.nextToken());
                long outside = Long.parseLong(words.nextToken());
                if (offset >= 0 && offset < Long.parseLong(words.nextToken())) {
                    return outside + offset;
                }
            }
            return own;
        } catch (IOException | RuntimeException notToBeSeen) {
            throw new LinuxSocket.Refused(LinuxCalls.ENOENT, "reading /proc/self");
        }
    }

    /** {@return the number of the user that this process acts for, in its own user namespace} */
    public static int effectiveUser() throws IOException {
        return Own.effectiveUser();
    }

    /** It stays the same, and is asked for with each process that starts. */
    private static final class Own {
        private static final int UNKNOWN = -1;
        private static final int EFFECTIVE_USER = read();

        public static int effectiveUser() throws IOException {
            if (EFFECTIVE_USER == UNKNOWN) {
                throw new IOException("the system does not say whose process this is");
            }
            return EFFECTIVE_USER;
        }

        private static int read() {
            try {
                for (String line : Files.readAllLines(PROC.resolve("self/status"))) {
                    if (line.startsWith("Uid:")) {
                        // The real one, the effective, the saved and that of the file system.
                        StringTokenizer words = new StringTokenizer(line.substring(4));
                        words.nextToken();
                        return Integer.parseUnsignedInt(words.nextToken());
                    }
                }
                return UNKNOWN;
            } catch (IOException | RuntimeException notToBeSeen) {
                return UNKNOWN;
            }
        }
    }

    /**
     * Looks through the processes of this user and network namespace, and opens a file without a name that one of them has
     * open.
     *
     * @param name what the system calls it, beginning with its kind
     * @return the file descriptor in this process, -1 if none of those processes has it, or they are not to be seen
     */
    static int find(String name, int flags) {
        try (DirectoryStream<Path> processes = Files.newDirectoryStream(PROC, "[0-9]*")) {
            Object network = inode(PROC.resolve("self/ns/net"));
            Object user = owner(PROC.resolve("self"));
            for (Path process : processes) {
                int found = isNeighbour(process, network, user) ? find(process, name, flags) : -1;
                if (found >= 0) {
                    return found;
                }
            }
        } catch (IOException | DirectoryIteratorException notToBeSeen) {
            // As if there were none.
        }
        return -1;
    }

    private static boolean isNeighbour(Path process, Object network, Object user) {
        try {
            return owner(process).equals(user)
                    && inode(process.resolve("ns/net")).equals(network);
        } catch (IOException ended) {
            return false;
        }
    }

    private static int find(Path process, String name, int flags) {
        try (DirectoryStream<Path> files = Files.newDirectoryStream(process.resolve("fd"))) {
            for (Path file : files) {
                if (Files.readSymbolicLink(file).toString().startsWith(name)) {
                    return open(file.toString(), name, flags);
                }
            }
        } catch (IOException | DirectoryIteratorException | LinuxSocket.Refused ended) {
            // The process, or the file was closed meanwhile.
        }
        return -1;
    }

    private static Object inode(Path file) throws IOException {
        return Files.getAttribute(file, "unix:ino");
    }

    private static Object owner(Path file) throws IOException {
        return Files.getAttribute(file, "unix:uid");
    }

    /**
     * Opens an unnamed file that another process has open.
     *
     * @param number the file descriptor in that process
     * @param name the prefix of the system's name of the file; no other file is opened, because that could block or have
     *         effects
     * @param flags as of open(2)
     * @return the file descriptor in this process
     */
    public static int open(long process, int number, String name, int flags)
            throws LinuxSocket.Refused {
        if (!ProcessIdentity.isVisible(process)) {
            throw new LinuxSocket.Refused(LinuxCalls.EACCES,
                    "opening a file of " + ProcessIdentity.text(process));
        }
        return open("/proc/" + ProcessIdentity.number(process) + "/fd/" + number, name, flags);
    }

    private static int open(String path, String name, int flags) throws LinuxSocket.Refused {
        requireNamed(path, name);
        int opened;
        try (Arena call = Arena.ofConfined()) {
            opened = LinuxSocket.Refused.unlessDone(
                    new LinuxCalls(call).open(call.allocateFrom(path), flags, 0), "open " + path);
        }
        try {
            // Meanwhile the number may belong to another file, or the process ID to another process.
            requireNamed(own(opened), name);
            return opened;
        } catch (LinuxSocket.Refused e) {
            LinuxCalls.close(opened);
            throw e;
        }
    }

    private static void requireNamed(String path, String name) throws LinuxSocket.Refused {
        try {
            if (Files.readSymbolicLink(Path.of(path)).toString().startsWith(name)) {
                return;
            }
        } catch (IOException e) {
            throw new LinuxSocket.Refused(LinuxCalls.EACCES, "readlink " + path);
        }
        throw new LinuxSocket.Refused(LinuxCalls.EINVAL, "readlink " + path);
    }

    private static String own(int number) {
        return "/proc/self/fd/" + number;
    }

    /** {@return the inode of a file that this process has open, which no other file of its kind has} */
    public static long inode(int number) throws LinuxSocket.Refused {
        try {
            return (Long) Files.getAttribute(Path.of(own(number)), "unix:ino");
        } catch (IOException e) {
            throw new LinuxSocket.Refused(LinuxCalls.EACCES, "stat " + own(number));
        }
    }

    /**
     * Opens a process: the descriptor is readable once it has ended, with everything that it had open. pidfd_open(2), which systems before Linux 5.3 do not
     * have.
     *
     * @return the file descriptor in this process
     */
    public static int openProcess(long process) throws LinuxSocket.Refused {
        String what = "pidfd_open of " + ProcessIdentity.text(process);
        if (!ProcessIdentity.isVisible(process)) {
            throw new LinuxSocket.Refused(LinuxCalls.EACCES, what);
        }
        try (Arena call = Arena.ofConfined()) {
            return LinuxSocket.Refused.unlessDone((int) Descriptors.SYSCALL.call(
                    new ErrorNumber(call), Descriptors.PIDFD_OPEN,
                    ProcessIdentity.number(process), 0), what);
        }
    }

    /** By its number, for older C libraries have no function for it. Loaded by the first use. */
    private static final class Descriptors {
        static final CFunction SYSCALL = CFunction.ofLong("syscall");
        /** The same on all processors that Java runs on. */
        static final long PIDFD_OPEN = 434;
    }

    /** {@return whether a process is stopped, by a signal or a debugger; false if it is not to be seen} */
    public static boolean isStopped(long process) {
        if (!ProcessIdentity.isVisible(process)) {
            return false;
        }
        try {
            String status = Files.readString(
                    Path.of("/proc/" + ProcessIdentity.number(process) + "/stat"));
            // After the name, which is in parentheses and may contain parentheses.
            int behindName = status.lastIndexOf(") ");
            return behindName >= 0 && "Tt".indexOf(status.charAt(behindName + 2)) >= 0;
        } catch (IOException | IndexOutOfBoundsException notToBeSeen) {
            return false;
        }
    }
}
