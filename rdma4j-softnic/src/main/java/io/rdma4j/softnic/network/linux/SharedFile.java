package io.rdma4j.softnic.network.linux;

import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;
import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.PosixFilePermissions;

/**
 * The file of {@link SharedPort}: one for each network namespace, created by the first process, deleted when no process
 * uses it.
 */
final class SharedFile {
    private static final System.Logger LOG = System.getLogger(SharedFile.class.getName());
    /** The prefix of file names; the network namespace follows it. */
    private static final String NAME = "port4791-";

    /** How long the file may be deleted each time that this process has created it. */
    private static final long MAX_DELETIONS_NS = 5_000_000_000L;

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

    /**
     * {@return the locks of the file, which is created if necessary, with the lock for changes taken}
     *
     * @throws RdmaException EACCES if something else has its name, EBUSY if it is deleted again and again
     */
    static TableLocks locked(Path file) throws IOException, LinuxSocket.Refused, RdmaException {
        long untilNs = System.nanoTime() + MAX_DELETIONS_NS;
        while (true) {
            TableLocks locks = tryLocked(file);
            if (locks != null) {
                return locks;
            }
            // A process of another network namespace has deleted the file, because it was unused until then.
            if (System.nanoTime() - untilNs > 0) {
                throw new RdmaException(Errno.EBUSY, SharedPort.OPERATION,
                        file + " is deleted again and again; end what deletes it");
            }
        }
    }

    /** {@return the locks, null if the file was deleted meanwhile} */
    private static @Nullable TableLocks tryLocked(Path file)
            throws IOException, LinuxSocket.Refused, RdmaException {
        try {
            Files.createFile(file, PosixFilePermissions
                    .asFileAttribute(PosixFilePermissions.fromString("rw-------")));
        } catch (FileAlreadyExistsException another) {
            // Made by another process, or by one that has ended.
        }
        TableLocks locks;
        try {
            requireRegular(file);
            locks = new TableLocks(file);
        } catch (NoSuchFileException deleted) {
            return null;
        } catch (LinuxSocket.Refused e) {
            if (e.errno() == LinuxCalls.ENOENT) {
                return null;
            }
            throw e;
        }
        boolean isLocked = false;
        try {
            locks.lock();
            isLocked = locks.isInPlace();
            if (isLocked) {
                return locks;
            }
            locks.unlock();
            return null;
        } finally {
            if (!isLocked) {
                locks.close();
            }
        }
    }

    /** A link that leads nowhere, for example, exists and cannot be opened, and nobody deletes it. */
    private static void requireRegular(Path file) throws IOException, RdmaException {
        if (!isRegular(file)) {
            throw new RdmaException(Errno.EACCES, SharedPort.OPERATION,
                    file + " is no regular file; remove it");
        }
    }

    private static boolean isRegular(Path file) throws IOException {
        return Files.readAttributes(file, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS)
                .isRegularFile();
    }

    /** Deletes the files of network namespaces that no process uses any more. */
    static void deleteUnused(Path folder, String own) {
        try (DirectoryStream<Path> files = Files.newDirectoryStream(folder, NAME + "*")) {
            for (Path other : files) {
                if (!other.getFileName().toString().equals(own) && isRegular(other)) {
                    deleteIfUnused(other);
                }
            }
        } catch (IOException | DirectoryIteratorException e) {
            LOG.log(System.Logger.Level.DEBUG, "files of ended processes may stay", e);
        }
    }

    private static void deleteIfUnused(Path other) throws IOException {
        try (TableLocks locks = new TableLocks(other)) {
            locks.deleteIfUnused();
        } catch (LinuxSocket.Refused e) {
            // Without the file, another process has deleted it since the folder was read.
            if (e.errno() != LinuxCalls.ENOENT) {
                LOG.log(System.Logger.Level.DEBUG, () -> other + " stays", e);
            }
        }
    }
}
