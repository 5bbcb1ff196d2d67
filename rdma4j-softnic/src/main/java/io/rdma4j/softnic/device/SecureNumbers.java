// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.device;

import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.security.SecureRandom;
import java.util.function.IntSupplier;

/**
 * Numbers that others cannot guess, drawn from the system in batches. {@link SecureRandom} has the same source, but loads sixty
 * classes first, 50 ms of processor time; it is used where there is no {@code /dev/urandom}. Not thread safe.
 */
public final class SecureNumbers implements IntSupplier {
    private static final String SOURCE = "/dev/urandom";

    private final ByteBuffer batch = ByteBuffer.allocate(1024).limit(0);

    @Override
    public int getAsInt() {
        if (!batch.hasRemaining()) {
            fill(batch.array());
            batch.clear();
        }
        return batch.getInt();
    }

    private static void fill(byte[] bytes) {
        try (InputStream source = new FileInputStream(SOURCE)) {
            if (source.readNBytes(bytes, 0, bytes.length) == bytes.length) {
                return;
            }
        } catch (IOException elsewhere) {
            // Another system, or no descriptor is free.
        }
        new SecureRandom().nextBytes(bytes);
    }
}
