package io.rdma4j.softnic.network.linux;

import io.rdma4j.verbs.Errno;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

/** Whether a refused system call is noticed before a device is opened. */
class SandboxTest {
    @BeforeEach
    void requireLinux() {
        assumeThat(LinuxNetwork.isTried()).isTrue();
    }

    @Test
    void whereNoCallIsRefusedNoneIsTakenForRefused() {
        assertThat(Sandbox.refusalOfDatagrams()).isNull();
        assertThat(Sandbox.refusalOfStreams()).isNull();
    }

    @ParameterizedTest
    @CsvSource({"EPERM, Operation not permitted", "EACCES, Permission denied",
        "ENOSYS, Function not implemented"})
    void refusedIsWhatNoArgumentWouldChange(Errno error, String words) {
        assertThat(Sandbox.refusal("recvmsg", -error.number()))
                .isEqualTo("recvmsg: " + words + " (" + error + ")");
    }

    @ParameterizedTest
    @CsvSource({"EAGAIN", "ENOTCONN", "EINVAL", "EBADF"})
    void whatFailsForItsArgumentsIsLetThrough(Errno error) {
        assertThat(Sandbox.refusal("recvmsg", -error.number())).isNull();
        assertThat(Sandbox.refusal("recvmsg", 0)).isNull();
    }
}
