package io.rdma4j.tools;

import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

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

    @Test
    void wrongArgumentsAreOneLine() {
        tools.assertFails(2, "doctor --nonsense", "--nonsense");
        tools.assertFails(2, "doctor roce_lo", "roce_lo", "doctor --help");
        tools.assertFails(1, "doctor -d mlx5_0", "mlx5_0", "roce_lo");
    }
}
