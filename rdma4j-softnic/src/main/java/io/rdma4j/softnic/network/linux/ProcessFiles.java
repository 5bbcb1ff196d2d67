package io.rdma4j.softnic.network.linux;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.file.Files;
import java.nio.file.Path;

/** Files without a name that another process of the user has open. Source: proc_pid_fd(5). */
final class ProcessFiles {
    private ProcessFiles() {}

    /**
     * Opens one.
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
}
