// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.demo;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;

/**
 * A file that appears under its name only when it is complete. Until then it has another name beside it,
 * and what stood under the name before is untouched.
 */
final class StoredCopy implements AutoCloseable {
    private final Path target;
    private final Path unfinished;
    private final FileChannel channel;

    StoredCopy(Path output) throws IOException {
        // A link stays a link: what it leads to is replaced.
        target = Files.exists(output) ? output.toRealPath() : output.toAbsolutePath();
        unfinished = target.resolveSibling(
                target.getFileName() + ".part-" + ProcessHandle.current().pid());
        channel = FileChannel.open(unfinished, StandardOpenOption.CREATE_NEW,
                StandardOpenOption.WRITE);
        Runtime.getRuntime().addShutdownHook(new Thread(this::discard, "rdma4j-discard-copy"));
    }

    void append(ByteBuffer bytes) throws IOException {
        while (bytes.hasRemaining()) {
            channel.write(bytes);
        }
    }

    /** Gives it its name. */
    void complete() throws IOException {
        channel.close();
        Files.move(unfinished, target, StandardCopyOption.REPLACE_EXISTING,
                StandardCopyOption.ATOMIC_MOVE);
    }

    /** Removes what was not completed. */
    @Override
    public void close() throws IOException {
        channel.close();
        Files.deleteIfExists(unfinished);
    }

    private void discard() {
        try {
            Files.deleteIfExists(unfinished);
        } catch (IOException nothingElseToDo) {
            // The process ends; the name says what the file is.
        }
    }
}
