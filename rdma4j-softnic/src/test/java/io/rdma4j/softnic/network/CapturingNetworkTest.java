// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.network;

import io.rdma4j.protocol.roce.wire.Opcode;
import io.rdma4j.protocol.roce.wire.OutgoingPacket;
import io.rdma4j.softnic.options.Impairment;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** What stands in a capture file. */
class CapturingNetworkTest {
    private final SimulatedNetwork network = new SimulatedNetwork(1);

    private static void send(PacketPort from, PacketPort to, int psn) {
        OutgoingPacket packet = new OutgoingPacket()
                .begin(Opcode.RC_SEND_ONLY, io.rdma4j.protocol.roce.wire.Path.between(from.local(),
                        to.local()), 17, psn, false, false);
        from.send(packet);
    }

    /** {@return the PSN of each recorded packet} */
    private static List<Integer> psns(Path file) throws Exception {
        ByteBuffer in = ByteBuffer.wrap(Files.readAllBytes(file)).order(ByteOrder.LITTLE_ENDIAN);
        List<Integer> psns = new ArrayList<>();
        for (int at = 24; at < in.capacity(); at += 16 + in.getInt(at + 8)) {
            psns.add(Integer.reverseBytes(in.getInt(at + 16 + 20 + 8 + 8)));
        }
        return psns;
    }

    @Test
    void doubledPacketsStandTwice(@TempDir Path directory) throws Exception {
        Path file = directory.resolve("capture");
        DatagramNetwork recorded = new ImpairedNetwork(
                CapturingNetwork.open(network.newNode(), file),
                Impairment.NONE.withDuplication(1));
        PacketPort from = recorded.open(InetAddress.ofLiteral("127.0.0.1"));
        PacketPort to = recorded.open(InetAddress.ofLiteral("127.0.0.2"));
        recorded.pollDue(0);
        send(from, to, 5);
        send(from, to, 6);
        recorded.close();
        assertThat(psns(file)).containsExactly(5, 5, 6, 6);
    }

    @Test
    void missingFolderIsNamedOnce(@TempDir Path directory) {
        Path file = directory.resolve("missing").resolve("capture");
        assertThatExceptionOfType(RdmaException.class)
                .isThrownBy(() -> CapturingNetwork.open(network.newNode(), file))
                .satisfies(e -> assertThat(e.errno()).isEqualTo(Errno.ENOENT))
                .withMessage("open device: packets cannot be recorded in " + file
                        + ": there is no folder " + file.getParent() + " (ENOENT)");
    }

    @Test
    void folderInPlaceOfTheFileIsNamedOnce(@TempDir Path directory) {
        assertThatExceptionOfType(RdmaException.class)
                .isThrownBy(() -> CapturingNetwork.open(network.newNode(), directory))
                .satisfies(e -> assertThat(e.errno()).isEqualTo(Errno.UNKNOWN))
                .withMessage("open device: packets cannot be recorded in " + directory
                        + ": Is a directory (EISDIR)");
    }

    @Test
    void interruptedThreadEndsNoRecording(@TempDir Path directory) throws Exception {
        Path file = directory.resolve("capture");
        DatagramNetwork recorded = CapturingNetwork.open(network.newNode(), file);
        PacketPort from = recorded.open(InetAddress.ofLiteral("127.0.0.1"));
        PacketPort to = recorded.open(InetAddress.ofLiteral("127.0.0.2"));
        send(from, to, 5);
        Thread.currentThread().interrupt();
        recorded.close();
        assertThat(Thread.interrupted()).isTrue();
        assertThat(psns(file)).containsExactly(5);
    }

    @Test
    void devicesThatRecordInTheSameFileShareIt(@TempDir Path directory) throws Exception {
        Path file = directory.resolve("capture");
        DatagramNetwork first = CapturingNetwork.open(network.newNode(), file);
        DatagramNetwork second = CapturingNetwork.open(network.newNode(),
                directory.resolve(".").resolve("capture"));
        PacketPort a = first.open(InetAddress.ofLiteral("127.0.0.1"));
        PacketPort b = second.open(InetAddress.ofLiteral("127.0.0.2"));
        send(a, b, 1);
        send(b, a, 2);
        first.close();
        send(b, a, 3);
        second.close();
        assertThat(psns(file)).containsExactly(1, 2, 3);
    }
}
