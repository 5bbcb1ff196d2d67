// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.network.linux.calls;

import io.rdma4j.verbs.Errno;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;

/** Which errors mean that a call is refused, whatever it is about. */
class LinuxAccessTest {
    @ParameterizedTest
    @CsvSource({"EPERM, Operation not permitted", "EACCES, Permission denied",
        "ENOSYS, Function not implemented"})
    void refusedIsWhatNoArgumentWouldChange(Errno error, String words) {
        assertThat(LinuxAccess.refusal("recvmsg", -error.number()))
                .isEqualTo("recvmsg: " + words + " (" + error + ")");
    }

    @ParameterizedTest
    @CsvSource({"EAGAIN", "ENOTCONN", "EINVAL", "EBADF"})
    void whatFailsForItsArgumentsIsLetThrough(Errno error) {
        assertThat(LinuxAccess.refusal("recvmsg", -error.number())).isNull();
        assertThat(LinuxAccess.refusal("recvmsg", 0)).isNull();
    }
}
