package io.rdma4j.softnic.network.linux;

import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;

/**
 * The file of {@link SharedPort}: one for each network namespace, created by the first process, deleted when no process
 * uses it.
 */
final class SharedFile {
    private static final System.Logger LOG = System.getLogger(SharedFile.class.getName());
    /** The prefix of file names; the network namespace follows it. */
    private static final String NAME = "port4791-";

    private SharedFile() {}

    /** {@return the name of this process's file} Network namespaces share no sockets. */
    static String name() throws RdmaException {
        try {
            return NAME + Files.getAttribute(Path.of("/proc/self/ns/net"), "unix:ino");
        } catch (IOException e) {
            throw new RdmaException(Errno.EACCES, SharedPort.OPERATION,
                    "the system does not tell this process's network namespace", e);
        }
    }

    /** {@return the locks of the file, which is created if necessary, with the lock for changes taken} */
    static TableLocks locked(Path file, Arena arena)
            throws IOException, LinuxSocket.Refused, RdmaException {
        while (true) {
            try {
                Files.createFile(file, PosixFilePermissions
                        .asFileAttribute(PosixFilePermissions.fromString("rw-------")));
            } catch (FileAlreadyExistsException another) {
                // Made by another process, or by one that has ended.
            }
            TableLocks locks;
            try {
                locks = new TableLocks(file, arena);
            } catch (LinuxSocket.Refused e) {
                if (e.errno() == LinuxCalls.ENOENT) {
                    // Deleted at this moment, by a process of another network namespace.
                    continue;
                }
                throw e;
            }
            boolean isInPlace = false;
            try {
                locks.lock();
                isInPlace = locks.isInPlace();
                if (isInPlace) {
                    return locks;
                }
                locks.unlock();
            } finally {
                if (!isInPlace) {
                    locks.close();
                }
            }
            // Another process has deleted the file, because it was unused until then.
        }
    }

    /** Deletes the files of network namespaces that no process uses any more. */
    static void deleteUnused(Path folder, String own) {
        try (DirectoryStream<Path> files = Files.newDirectoryStream(folder, NAME + "*")) {
            for (Path other : files) {
                if (!other.getFileName().toString().equals(own)) {
                    deleteIfUnused(other);
                }
            }
        } catch (IOException | DirectoryIteratorException e) {
            LOG.log(System.Logger.Level.DEBUG, "files of ended processes may stay", e);
        }
    }

    private static void deleteIfUnused(Path other) throws IOException {
        try (Arena arena = Arena.ofConfined(); TableLocks locks = new TableLocks(other, arena)) {
            locks.deleteIfUnused();
        } catch (LinuxSocket.Refused e) {
            // Without the file, another process has deleted it since the folder was read.
            if (e.errno() != LinuxCalls.ENOENT) {
                LOG.log(System.Logger.Level.DEBUG, () -> other + " stays", e);
            }
        }
    }
}
