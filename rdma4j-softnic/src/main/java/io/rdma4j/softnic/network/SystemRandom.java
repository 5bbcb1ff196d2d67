package io.rdma4j.softnic.network;

import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.security.SecureRandom;

/**
 * The system's random numbers, which others cannot guess. {@link SecureRandom} reads them, too, but loads sixty classes first,
 * 50 ms of processor time; it is used where there is no {@code /dev/urandom}. For any thread.
 */
public final class SystemRandom {
    private static final String FILE = "/dev/urandom";

    private SystemRandom() {}

    /** Fills an array. */
    public static void fill(byte[] bytes) {
        try (InputStream file = new FileInputStream(FILE)) {
            if (file.readNBytes(bytes, 0, bytes.length) == bytes.length) {
                return;
            }
        } catch (IOException elsewhere) {
            // Another system, or no descriptor is free.
        }
        new SecureRandom().nextBytes(bytes);
    }

    /** {@return any number} */
    public static long nextLong() {
        byte[] bytes = new byte[Long.BYTES];
        fill(bytes);
        return ByteBuffer.wrap(bytes).getLong();
    }
}
