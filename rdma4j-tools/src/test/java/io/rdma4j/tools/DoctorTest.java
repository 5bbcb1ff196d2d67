// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools;

import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What the doctor says of a machine and of single devices, none of which another test has to itself. That of all devices is
 * in {@link CommandLineTest}.
 */
@ExtendWith(NothingStaysOpen.class)
class DoctorTest {
    private static final String REMARK = "the kernel has no RDMA: modprobe ib_uverbs";

    private final Invocation tools = new Invocation();

    @AfterEach
    void offerNothing() {
        OtherProvider.offer(null);
    }

    @ParameterizedTest
    @CsvSource({"roce_lo, InfiniBand, ::ffff:127.0.0.", "iwarp_lo, iWARP, IB"})
    void softwareDeviceCarriesAMessageToItself(String device, String transport, String gid) {
        assertThat(tools.run("doctor -d " + device)).as(tools.out()).isZero();
        assertThat(tools.out())
                .contains(device + " (software, " + transport + ")\n",
                        "    ok      network back-end: ",
                        "    ok      port 1: PORT_ACTIVE, path MTU ", "of port 1: ", gid,
                        "    ok      a message of 65536 bytes to itself at 127.0.0.")
                .doesNotContain("failed");
        assertThat(tools.err()).isEmpty();
    }

    @Test
    void machineSaysWhichNativeDevicesItHasOrWhatTheyLack() {
        assertThat(tools.run("doctor -d roce_lo")).isZero();
        assertThat(tools.out()).containsPattern("(?m)^    (note    |ok      native devices: )");
    }

    @Test
    void whatProvidersSayIsANoteAndNoFailure() {
        OtherProvider.offer(null, REMARK);
        assertThat(tools.run("doctor -d roce_lo")).isZero();
        assertThat(tools.out()).contains("    note    " + REMARK + "\n");
    }

    @Test
    void deviceThatDoesNotOpenFails() {
        OtherProvider.offer(
                new RdmaException(Errno.EACCES, "open device", "uverbs0 may not be opened"));
        assertThat(tools.run("doctor -d mlx5_0")).isOne();
        assertThat(tools.out()).contains("    ok      native devices: mlx5_0\n").endsWith("""
                mlx5_0 (native, InfiniBand)
                    failed  open device: uverbs0 may not be opened (EACCES)
                """);
        assertThat(tools.err()).isEqualTo("doctor: 1 of what should work does not\n");
    }

    // ---------------------------------------------------------------- two doctors

    @Test
    void twoDoctorsTryWhatPassesBetweenThem() throws Exception {
        try (Running server = Command.start("doctor -s -p 0")) {
            String port = server.port();
            assertThat(tools.run("doctor -p " + port + " 127.0.0.1")).as(tools.out()).isZero();
            assertThat(tools.out()).startsWith("127.0.0.1\n    ok      TCP port " + port).contains(
                    "    ok      RoCE here is roce_lo, path MTU 4096; there 4096\n",
                    "    ok      RoCE packets to 127.0.0.1: those of path MTU 4096 arrive\n",
                    "    ok      RoCE packets from 127.0.0.1: those of path MTU 4096 arrive\n",
                    "    ok      RoCE: connected to port ", "    ok      iWARP: connected to port ")
                    .doesNotContain("failed");
            assertThat(tools.err()).isEmpty();
        }
    }

    /** It ends at once, and says what is missing there. */
    @Test
    void hostWithoutADoctorIsAFailure() throws Exception {
        int port;
        try (ServerSocket closed = new ServerSocket(0)) {
            port = closed.getLocalPort();
        }
        assertThat(tools.run("doctor -p " + port + " 127.0.0.1")).isOne();
        assertThat(tools.out()).isEqualTo("127.0.0.1\n    failed  TCP port " + port
                + " of 127.0.0.1 is refused: start 'doctor -s' there\n");
        assertThat(tools.err()).isEqualTo("doctor: 1 of what should work does not\n");
    }

    /** Another program has the port; a doctor that serves survives that too. */
    @Test
    void whatDoesNotSpeakAsADoctorIsToldSo() throws Exception {
        try (Running server = Command.start("doctor -s -p 0")) {
            int port = Integer.parseInt(server.port());
            for (String nonsense : List.of("GET / HTTP/1.1\n", "doctor 1\nnonsense\nend\n",
                    "doctor 1\npackets 1 2 3\nend\n", "doctor 1\nsend\nend\n",
                    "doctor 1\npackets 0 17 5 ::ffff:10.1.2.3 1 1 1024\nend\n", "")) {
                try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
                    socket.getOutputStream().write(nonsense.getBytes(StandardCharsets.UTF_8));
                    socket.shutdownOutput();
                    socket.getInputStream().readAllBytes();
                }
            }
            assertThat(tools.run("doctor -p " + port + " 127.0.0.1")).as(tools.out()).isZero();
        }
    }

    @Test
    void wrongArgumentsAreOneLine() {
        tools.assertFails(2, "doctor -s 127.0.0.1", "-s and HOST");
        tools.assertFails(2, "doctor -d roce_lo 127.0.0.1", "-d is for a check of this machine");
        tools.assertFails(2, "doctor -p 70000 127.0.0.1", "-p");
        tools.assertFails(1, "doctor no-such-host.invalid", "does not");
        tools.assertFails(2, "doctor --nonsense", "--nonsense");
        tools.assertFails(1, "doctor -d mlx5_0", "mlx5_0", "roce_lo");
    }
}
