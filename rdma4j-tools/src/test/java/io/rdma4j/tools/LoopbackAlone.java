// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * Of the classes with it one runs at a time, whatever JVM they are in: those whose processes share 127.0.0.1 with no other,
 * and those to which a device there that is not served would matter.
 */
final class LoopbackAlone implements BeforeAllCallback, AfterAllCallback {
    private static final Path LOCK = Path.of("target", "loopback.lock");

    private @Nullable FileChannel held;

    @Override
    public void beforeAll(ExtensionContext context) throws IOException {
        held = FileChannel.open(LOCK, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
        held.lock();
    }

    @Override
    public void afterAll(ExtensionContext context) throws IOException {
        if (held != null) {
            held.close();
        }
    }
}
