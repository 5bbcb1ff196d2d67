// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.ibverbs.diagnosis;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * Opens the file of a device and closes it again. Checking its permissions is not enough: a container may be denied a
 * device whose file it sees.
 */
@FunctionalInterface
interface Opening {
    /** As a library would. */
    Opening FOR_READING_AND_WRITING = file -> FileChannel
            .open(file, StandardOpenOption.READ, StandardOpenOption.WRITE).close();

    /** Fails as the system does. */
    void open(Path file) throws IOException;
}
