package io.rdma4j.softnic.network.linux;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * Which process has had the lock for changes last, written in the file itself: the system does not tell who has a lock of an
 * open file. For those who have to say who keeps them waiting.
 */
class LockHolder {
    private static final System.Logger LOG = System.getLogger(LockHolder.class.getName());

    private final Path file;

    LockHolder(Path file) {
        this.file = file;
    }

    /** This process has it. */
    void note() {
        ByteBuffer number = buffer().putLong(ProcessHandle.current().pid()).flip();
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
            channel.write(number, SharedTable.HOLDER_AT);
        } catch (NoSuchFileException deleted) {
            // Who locks it looks next whether it is still there.
        } catch (IOException e) {
            LOG.log(System.Logger.Level.DEBUG, "who waits for this process cannot name it", e);
        }
    }

    /** {@return the process that had it last, 0 if that is not known} */
    long process() {
        ByteBuffer number = buffer();
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
            return channel.read(number, SharedTable.HOLDER_AT) == Long.BYTES
                    ? number.flip().getLong()
                    : 0;
        } catch (IOException e) {
            return 0;
        }
    }

    private static ByteBuffer buffer() {
        return ByteBuffer.allocate(Long.BYTES).order(ByteOrder.nativeOrder());
    }
}
