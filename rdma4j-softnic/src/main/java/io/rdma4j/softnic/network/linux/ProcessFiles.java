package io.rdma4j.softnic.network.linux;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.file.Files;
import java.nio.file.Path;

/** What the system tells of other processes of the user. Source: proc_pid_fd(5), proc_pid_stat(5). */
final class ProcessFiles {
    private ProcessFiles() {}

    /**
     * Opens a file without a name that another process has open.
     *
     * @param number the file descriptor that the process has of it
     * @param kind what the system calls such files: nothing else is opened, for that could wait, or do something
     * @param flags as of open(2)
     * @return the file descriptor of this process
     */
    static int open(long process, int number, String kind, int flags) throws LinuxSocket.Refused {
        String path = "/proc/" + process + "/fd/" + number;
        try (Arena call = Arena.ofConfined()) {
            if (!Files.readSymbolicLink(Path.of(path)).toString().startsWith(kind)) {
                throw new LinuxSocket.Refused(LinuxCalls.EINVAL, "readlink " + path);
            }
            return LinuxSocket.Refused.unlessDone(
                    new LinuxCalls(call).open(call.allocateFrom(path), flags, 0), "open " + path);
        } catch (IOException e) {
            throw new LinuxSocket.Refused(LinuxCalls.EACCES, "readlink " + path);
        }
    }

    /** {@return whether a process is stopped, by a signal or a debugger; false if there is none of that number} */
    static boolean isStopped(long process) {
        try {
            String status = Files.readString(Path.of("/proc/" + process + "/stat"));
            // Behind the name, which is in parentheses and may contain some.
            int behindName = status.lastIndexOf(") ");
            return behindName >= 0 && "Tt".indexOf(status.charAt(behindName + 2)) >= 0;
        } catch (IOException | IndexOutOfBoundsException notToBeSeen) {
            return false;
        }
    }
}
