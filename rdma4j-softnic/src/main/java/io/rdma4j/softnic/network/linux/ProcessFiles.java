package io.rdma4j.softnic.network.linux;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.file.Files;
import java.nio.file.Path;

/** Information about other processes of the user. Source: proc_pid_fd(5), proc_pid_stat(5). */
final class ProcessFiles {
    private ProcessFiles() {}

    /**
     * Opens an unnamed file that another process has open.
     *
     * @param number the file descriptor in that process
     * @param name the prefix of the system's name of the file; no other file is opened, because that could block or have
     *         effects
     * @param flags as of open(2)
     * @return the file descriptor in this process
     */
    static int open(long process, int number, String name, int flags) throws LinuxSocket.Refused {
        String path = "/proc/" + process + "/fd/" + number;
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
    static long inode(int number) throws LinuxSocket.Refused {
        try {
            return (Long) Files.getAttribute(Path.of(own(number)), "unix:ino");
        } catch (IOException e) {
            throw new LinuxSocket.Refused(LinuxCalls.EACCES, "stat " + own(number));
        }
    }

    /** {@return whether a process is stopped, by a signal or a debugger; false if there is none of that number} */
    static boolean isStopped(long process) {
        try {
            String status = Files.readString(Path.of("/proc/" + process + "/stat"));
            // After the name, which is in parentheses and may contain parentheses.
            int behindName = status.lastIndexOf(") ");
            return behindName >= 0 && "Tt".indexOf(status.charAt(behindName + 2)) >= 0;
        } catch (IOException | IndexOutOfBoundsException notToBeSeen) {
            return false;
        }
    }
}
