package io.rdma4j.softnic.network.linux;

import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Set;

/**
 * The folder in which the processes of one user find each other: {@code XDG_RUNTIME_DIR}, or a folder of the
 * user's own under {@code /dev/shm} or the temporary directory. A folder that others could have made, can write to, or
 * can put another in the place of, is not used.
 */
final class SharedFolder {
    private static final Set<PosixFilePermission> OWNER_ONLY = PosixFilePermissions
            .fromString("rwx------");
    /** Bits of a file's mode: inode(7). */
    private static final int WRITABLE_BY_OTHERS = 0022;
    private static final int STICKY = 01000;

    private SharedFolder() {}

    /** {@return the folder, which is created if necessary; null if no folder can be trusted} */
    static @Nullable Path ofUser() {
        return ofUser(System.getenv("XDG_RUNTIME_DIR"),
                Path.of(System.getProperty("java.io.tmpdir", "/tmp")));
    }

    /** As {@link #ofUser()}, for other folders. */
    static @Nullable Path ofUser(@Nullable String runtime, Path temporary) {
        return firstTrusted(
                candidates(runtime != null && isOfSession(runtime) ? runtime : null, temporary));
    }

    /**
     * {@return whether a folder can be that of a session} It is an absolute path, belongs to the user, and no other user
     * can write to it. Source: XDG Base Directory Specification, which wants access by the user alone.
     */
    private static boolean isOfSession(String runtime) {
        try {
            Path folder = Path.of(runtime);
            return folder.isAbsolute() && owner(folder) == user()
                    && (mode(folder) & WRITABLE_BY_OTHERS) == 0;
        } catch (IOException | RuntimeException none) {
            return false;
        }
    }

    private static int owner(Path file, LinkOption... options) throws IOException {
        return (int) Files.getAttribute(file, "unix:uid", options);
    }

    private static int mode(Path file) throws IOException {
        return (int) Files.getAttribute(file, "unix:mode");
    }

    /**
     * {@return the first folder that exists or can be created, and that only this user can access; null if there is
     * none}
     */
    static @Nullable Path firstTrusted(List<Path> candidates) {
        for (Path candidate : candidates) {
            try {
                return made(candidate);
            } catch (IOException | RuntimeException next) {
                // Tries the next one.
            }
        }
        return null;
    }

    /**
     * {@return the possible folders, the best first}
     *
     * @param runtime the folder of the user's session, null or blank if there is none
     * @param temporary the folder of temporary files
     */
    static List<Path> candidates(@Nullable String runtime, Path temporary) {
        String user = "rdma4j-" + user();
        Path memory = Path.of("/dev/shm").resolve(user);
        return runtime == null || runtime.isBlank()
                ? List.of(memory, temporary.resolve(user))
                : List.of(Path.of(runtime).resolve("rdma4j"), memory, temporary.resolve(user));
    }

    private static int user() {
        try {
            return owner(Path.of("/proc/self"));
        } catch (IOException e) {
            throw new IllegalStateException("the system does not say whose process this is", e);
        }
    }

    private static Path made(Path folder) throws IOException {
        if (isReplaceable(folder)) {
            throw new IOException("others can put theirs in the place of " + folder);
        }
        if (!Files.exists(folder, LinkOption.NOFOLLOW_LINKS)) {
            try {
                Files.createDirectory(folder, PosixFilePermissions.asFileAttribute(OWNER_ONLY));
            } catch (FileAlreadyExistsException another) {
                // Checked below like an existing folder.
            }
        }
        boolean isOwn = owner(folder, LinkOption.NOFOLLOW_LINKS) == user();
        if (!isOwn || !Files.isDirectory(folder, LinkOption.NOFOLLOW_LINKS)
                || !Files.getPosixFilePermissions(folder, LinkOption.NOFOLLOW_LINKS)
                        .equals(OWNER_ONLY)) {
            throw new IOException(folder + " is not this user's alone");
        }
        return folder;
    }

    /**
     * {@return whether others can rename a folder, and put theirs in its place} With the sticky bit, as in a temporary
     * directory, only its owner can.
     */
    private static boolean isReplaceable(Path folder) throws IOException {
        Path in = folder.getParent();
        if (in == null) {
            return false;
        }
        int mode = mode(in);
        return (mode & WRITABLE_BY_OTHERS) != 0 && (mode & STICKY) == 0;
    }
}
