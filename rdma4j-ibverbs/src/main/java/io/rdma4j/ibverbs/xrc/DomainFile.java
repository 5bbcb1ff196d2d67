// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.ibverbs.xrc;

import io.rdma4j.ibverbs.abi.ErrorNumbers;
import io.rdma4j.ibverbs.abi.Library;
import io.rdma4j.ibverbs.abi.Outcome;
import io.rdma4j.ibverbs.abi.SystemSymbol;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;

import java.lang.foreign.Arena;
import java.nio.file.FileSystems;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.Set;

/**
 * The file that identifies a domain of extended reliable connections: open(2). The kernel only uses the file's identity,
 * while the domain is opened, not its contents.
 *
 * @param descriptor the file descriptor, -1 for none
 * @param flags the flags of the domain for {@code ibv_open_xrcd}
 */
public record DomainFile(Library<SystemSymbol> system, int descriptor, int flags)
        implements
            AutoCloseable {
    private static final int NONE = -1;
    /** For reading, as processors that Linux has these libraries for number them: fcntl.h. */
    private static final int O_CREAT = 0x40;
    private static final int O_EXCL = 0x80;
    private static final int O_CLOEXEC = 0x8_0000;
    /** Of a file that is created, before the umask. */
    private static final int PERMISSIONS = 0666;

    /** {@return no file: the domain is of this process alone} */
    static DomainFile none(Library<SystemSymbol> system) {
        return new DomainFile(system, NONE, O_CREAT);
    }

    /** @throws RdmaException EINVAL for an option or a file system that does not fit, or why the file cannot be opened */
    public static DomainFile open(Library<SystemSymbol> system, String operation, Path file,
            StandardOpenOption... options) throws RdmaException {
        if (!file.getFileSystem().equals(FileSystems.getDefault())) {
            throw new RdmaException(Errno.EINVAL, operation,
                    file + " is no file of this machine's own file system");
        }
        int flags = flags(operation, options);
        try (Arena arena = Arena.ofConfined()) {
            Outcome opened = system.get(SystemSymbol.OPEN).call(
                    arena.allocateFrom(file.toAbsolutePath().toString()).address(),
                    O_CLOEXEC | (flags & O_CREAT), PERMISSIONS);
            if (opened.value() < 0) {
                throw ErrorNumbers.failure(operation, opened.errno(), file
                        + " cannot be opened; the domain takes a file that the process may read");
            }
            return new DomainFile(system, (int) opened.value(), flags);
        }
    }

    private static int flags(String operation, StandardOpenOption... options)
            throws RdmaException {
        Set<StandardOpenOption> wanted = EnumSet.noneOf(StandardOpenOption.class);
        wanted.addAll(Arrays.asList(options));
        boolean isNew = wanted.remove(StandardOpenOption.CREATE_NEW);
        boolean isCreated = wanted.remove(StandardOpenOption.CREATE) || isNew;
        if (!wanted.isEmpty()) {
            throw new RdmaException(Errno.EINVAL, operation,
                    "a domain is opened with CREATE, CREATE_NEW or no option, not with " + wanted);
        }
        return (isCreated ? O_CREAT : 0) | (isNew ? O_EXCL : 0);
    }

    @Override
    public void close() {
        if (descriptor != NONE) {
            system.get(SystemSymbol.CLOSE).call(descriptor);
        }
    }
}
