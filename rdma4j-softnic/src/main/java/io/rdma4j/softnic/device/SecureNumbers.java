package io.rdma4j.softnic.device;

import io.rdma4j.softnic.network.SystemRandom;

import java.nio.ByteBuffer;
import java.util.function.IntSupplier;

/** Numbers that others cannot guess, drawn in batches. Not thread safe. */
public final class SecureNumbers implements IntSupplier {
    private final ByteBuffer batch = ByteBuffer.allocate(1024).limit(0);

    @Override
    public int getAsInt() {
        if (!batch.hasRemaining()) {
            SystemRandom.fill(batch.array());
            batch.clear();
        }
        return batch.getInt();
    }
}
