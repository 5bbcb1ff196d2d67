package io.rdma4j.softnic.device;

import java.nio.ByteBuffer;
import java.security.SecureRandom;
import java.util.function.IntSupplier;

/** Numbers that others cannot guess, drawn in batches. Not thread safe. */
final class SecureNumbers implements IntSupplier {
    private final SecureRandom random = new SecureRandom();
    private final ByteBuffer batch = ByteBuffer.allocate(1024).limit(0);

    @Override
    public int getAsInt() {
        if (!batch.hasRemaining()) {
            random.nextBytes(batch.array());
            batch.clear();
        }
        return batch.getInt();
    }
}
