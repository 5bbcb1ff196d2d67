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
 * user's own under {@code /dev/shm} or the temporary directory. A folder that others could have made, or can write
 * to, is not used.
 */
final class SharedFolder {
    private static final Set<PosixFilePermission> OWNER_ONLY = PosixFilePermissions
            .fromString("rwx------");

    private SharedFolder() {}

    /** {@return the folder, which is created if necessary; null if no folder can be trusted} */
    static @Nullable Path ofUser() {
        return firstTrusted(candidates(System.getenv("XDG_RUNTIME_DIR"),
                Path.of(System.getProperty("java.io.tmpdir", "/tmp"))));
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
            return (int) Files.getAttribute(Path.of("/proc/self"), "unix:uid");
        } catch (IOException e) {
            throw new IllegalStateException("the system does not say whose process this is", e);
        }
    }

    private static Path made(Path folder) throws IOException {
        if (!Files.exists(folder, LinkOption.NOFOLLOW_LINKS)) {
            try {
                Files.createDirectory(folder, PosixFilePermissions.asFileAttribute(OWNER_ONLY));
            } catch (FileAlreadyExistsException another) {
                // Checked below like an existing folder.
            }
        }
        boolean isOwn = (int) Files.getAttribute(folder, "unix:uid",
                LinkOption.NOFOLLOW_LINKS) == user();
        if (!isOwn || !Files.isDirectory(folder, LinkOption.NOFOLLOW_LINKS)
                || !Files.getPosixFilePermissions(folder, LinkOption.NOFOLLOW_LINKS)
                        .equals(OWNER_ONLY)) {
            throw new IOException(folder + " is not this user's alone");
        }
        return folder;
    }
}
