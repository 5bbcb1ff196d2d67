// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.examples;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Random;

import static io.rdma4j.examples.TwoSides.ANY_PORT;
import static io.rdma4j.examples.TwoSides.run;
import static org.assertj.core.api.Assertions.assertThat;

/** What examples do over reliable connections of any transport. */
abstract class ConnectedExamples {
    final Output server = new Output();
    final Output client = new Output();

    @ParameterizedTest
    @EnumSource
    void readWriteShowsEachTheMemoryOfTheOther(ReadWrite.Mode mode) throws Exception {
        run(ready -> ReadWrite.serve(ANY_PORT, mode, server.out, ready),
                address -> ReadWrite.connect(address, mode, client.out));
        assertThat(server.lines()).last().asString()
                .startsWith("remote buffer: message from active/client side");
        assertThat(client.lines()).last().asString()
                .startsWith("remote buffer: message from passive/server side");
    }

    @Test
    void addingServerAdds() throws Exception {
        run(ready -> Adding.serve(ANY_PORT, server.out, ready), address -> assertThat(
                Adding.add(address, 123_456, -789, client.out)).isEqualTo(122_667));
        assertThat(server.lines()).contains("adding 123456 and -789.");
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 1 << 20, (3 << 20) + 17})
    void fileArrivesAsItWas(int size, @TempDir Path directory) throws Exception {
        Path file = directory.resolve("original.bin");
        byte[] bytes = new byte[size];
        new Random(size).nextBytes(bytes);
        Files.write(file, bytes);
        Path received = Files.createDirectory(directory.resolve("received"));
        run(ready -> FileTransfer.receive(ANY_PORT, received, server.out, ready),
                address -> FileTransfer.send(address, file, client.out));
        assertThat(received.resolve("original.bin")).hasBinaryContent(bytes);
    }
}
