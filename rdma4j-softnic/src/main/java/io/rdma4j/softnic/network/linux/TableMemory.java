package io.rdma4j.softnic.network.linux;

import io.rdma4j.protocol.work.ApplicationMemory;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;
import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.function.LongSupplier;

/**
 * The mapped file of the {@link SharedTable}. Any process of the user can truncate it, and a file that is found by its name
 * cannot be sealed against that. So each access ends where the JVM throws the error of an access beyond the end (ADR 34);
 * then the file is extended again, with zeros, and the access is repeated. What the table had is restored by its processes.
 * Too slow for each packet. Thread safe.
 */
final class TableMemory {
    private static final VarHandle BYTE = ValueLayout.JAVA_BYTE.varHandle();
    private static final VarHandle INT = ValueLayout.JAVA_INT.varHandle();
    private static final VarHandle LONG = ValueLayout.JAVA_LONG.varHandle();
    /** A process that truncates the file again and again makes it a table of zeros. */
    private static final int MAX_ATTEMPTS = 3;
    private static final int ZEROS = 64 << 10;

    private final MemorySegment memory;
    private final @Nullable Path file;

    private TableMemory(MemorySegment memory, @Nullable Path file) {
        this.memory = memory;
        this.file = file;
    }

    /** {@return memory of this process alone} */
    static TableMemory of(MemorySegment memory) {
        return new TableMemory(memory, null);
    }

    /**
     * Maps the existing file and extends it to the necessary length.
     *
     * @param name what to call it
     * @throws RdmaException ENOMEM if there is no room for it
     */
    static TableMemory map(Path file, Path name, long length, Arena arena)
            throws IOException, RdmaException {
        try (FileChannel channel = open(file)) {
            try {
                extend(channel, length);
            } catch (IOException e) {
                throw new RdmaException(Errno.ENOMEM, SharedPort.OPERATION, name + " cannot be "
                        + (length >> 10) + " KiB long: " + e.getMessage(), e);
            }
            return new TableMemory(channel.map(FileChannel.MapMode.READ_WRITE, 0, length, arena),
                    file);
        }
    }

    private static FileChannel open(Path file) throws IOException {
        return FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE);
    }

    /**
     * Extends the file by writing zeros: pages that were never written have no memory yet, and a store to them ends the
     * process by a signal if no memory is left.
     */
    private static void extend(FileChannel channel, long length) throws IOException {
        ByteBuffer zeros = ByteBuffer.allocate(ZEROS);
        for (long at = channel.size(); at < length;) {
            int missing = (int) Math.min(zeros.capacity(), length - at);
            at += channel.write(zeros.position(0).limit(missing), at);
        }
    }

    /** {@return a number of 8 bits, without sign} */
    int byteAt(long at) {
        return (int) read(() -> (byte) BYTE.getAcquire(memory, at)) & 0xff;
    }

    int intAt(long at) {
        return (int) read(() -> (int) INT.getAcquire(memory, at));
    }

    long longAt(long at) {
        return read(() -> (long) LONG.getAcquire(memory, at));
    }

    void byteAt(long at, int value) {
        access(() -> BYTE.setRelease(memory, at, (byte) value));
    }

    void intAt(long at, int value) {
        access(() -> INT.setRelease(memory, at, value));
    }

    void longAt(long at, long value) {
        access(() -> LONG.setRelease(memory, at, value));
    }

    private long read(LongSupplier access) {
        for (int attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
            try {
                long value = access.getAsLong();
                ApplicationMemory.settle(memory);
                return value;
            } catch (InternalError truncated) {
                extendAgain();
            }
        }
        return 0;
    }

    private void access(Runnable access) {
        for (int attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
            try {
                access.run();
                ApplicationMemory.settle(memory);
                return;
            } catch (InternalError truncated) {
                extendAgain();
            }
        }
    }

    private void extendAgain() {
        Path mapped = file;
        if (mapped == null) {
            return;
        }
        try (FileChannel channel = open(mapped)) {
            extend(channel, memory.byteSize());
        } catch (IOException noRoom) {
            // The next access tries it again.
        }
    }

    /** Writes zeros from an offset to another one. */
    void clear(long from, long end) {
        access(() -> memory.asSlice(from, end - from).fill((byte) 0));
    }

    /** {@return a copy, which is faster than single reads} */
    ByteBuffer copy(long from, int length) {
        byte[] copy = new byte[length];
        access(() -> MemorySegment.copy(memory, ValueLayout.JAVA_BYTE, from, copy, 0, length));
        return ByteBuffer.wrap(copy).order(ByteOrder.nativeOrder());
    }
}
