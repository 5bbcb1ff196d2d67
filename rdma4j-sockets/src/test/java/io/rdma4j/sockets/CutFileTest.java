// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets;

import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** Memory of a file that is shorter now: the transfer fails, and the connection goes on. */
class CutFileTest {
    private static final int LENGTH = 1 << 16;

    @TempDir
    private Path folder;

    @ParameterizedTest
    @EnumSource(names = {"TCP", "ROCE", "IWARP", "RULED_RDMA"})
    void whatWasMappedIsABadAddress(Transport transport) throws Exception {
        try (ServerSocketChannel listener = transport.listen();
                SocketChannel client = transport.open();
                FileChannel file = FileChannel.open(folder.resolve("file"),
                        StandardOpenOption.CREATE, StandardOpenOption.READ,
                        StandardOpenOption.WRITE)) {
            client.connect(listener.getLocalAddress());
            try (SocketChannel accepted = listener.accept()) {
                ByteBuffer mapped = file.map(FileChannel.MapMode.READ_WRITE, 0, LENGTH);
                file.truncate(0);
                assertThatExceptionOfType(IOException.class)
                        .isThrownBy(() -> client.write(mapped))
                        .withMessageContaining("Bad address");
                client.write(ByteBuffer.wrap(new byte[]{1}));
                assertThatExceptionOfType(IOException.class)
                        .isThrownBy(() -> accepted.read(mapped.clear()))
                        .withMessageContaining("Bad address");
                ByteBuffer one = ByteBuffer.allocate(1);
                assertThat(accepted.read(one)).isOne();
                assertThat(one.get(0)).isEqualTo((byte) 1);
            }
        }
    }
}
