// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.verbs;

import io.rdma4j.spi.SocketErrors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.net.NoRouteToHostException;
import java.net.PortUnreachableException;
import java.net.SocketException;

import static org.assertj.core.api.Assertions.assertThat;

class SystemErrorsTest {
    @ParameterizedTest
    @EnumSource(value = Errno.class, mode = EnumSource.Mode.EXCLUDE, names = "UNKNOWN")
    void eachErrorOfTheApiHasItsNameAndWords(Errno errno) {
        assertThat(SystemErrors.text(errno.number()))
                .isEqualTo(SystemErrors.words(errno.number()) + " (" + errno + ")");
        assertThat(SystemErrors.words(errno.number())).doesNotContainPattern("\\d");
        assertThat(Errno.ofNumber(errno.number())).isEqualTo(errno);
    }

    @Test
    void theNumberOfAnErrorIsFoundByItsWords() {
        assertThat(SocketErrors.numberOf("No route to host"))
                .isEqualTo(Errno.EHOSTUNREACH.number());
        assertThat(SocketErrors.numberOf("null")).isZero();
    }

    @Test
    void theKindOfAnExceptionOfTheJdkComesBeforeItsWords() {
        assertThat(SocketErrors.numberOf(new NoRouteToHostException("Aucun chemin d'accès")))
                .isEqualTo(Errno.EHOSTUNREACH.number());
        assertThat(SocketErrors.numberOf(new PortUnreachableException()))
                .isEqualTo(Errno.ECONNREFUSED.number());
        assertThat(SocketErrors.numberOf(new SocketException("Operation not permitted")))
                .isEqualTo(Errno.EPERM.number());
        assertThat(SocketErrors.numberOf(new SocketException())).isZero();
    }

    @Test
    void errorThatTheApiLacksIsToldByItsOwnName() {
        assertThat(RdmaException.ofSystem(71, "connect", "Protocol error", null))
                .hasMessage("connect: Protocol error (EPROTO)")
                .satisfies(e -> assertThat(e.errno()).isEqualTo(Errno.UNKNOWN))
                .satisfies(e -> assertThat(e.errorNumber()).isEqualTo(71))
                .satisfies(e -> assertThat(new RdmaException(e.errno(), "open", "no", e)
                        .errorNumber()).isEqualTo(71))
                .satisfies(e -> assertThat(new RdmaException(e.errno(), "open", e.detail(), e))
                        .hasMessage("open: Protocol error (EPROTO)"));
        assertThat(RdmaException.ofSystem(Errno.EPERM.number(), "connect", "no", null))
                .hasMessage("connect: no (EPERM)");
        assertThat(RdmaException.ofSystem(0, "connect", "Vorgang nicht zulässig", null))
                .hasMessage("connect: Vorgang nicht zulässig")
                .satisfies(e -> assertThat(e.errno()).isEqualTo(Errno.EIO));
    }

    @Test
    void nearlyAllNumbersOfLinuxHaveAName() {
        for (int number = 1; number <= 133; number++) {
            if (number != 41 && number != 58) {
                assertThat(SystemErrors.text(number))
                        .matches("[^()]+( \\(.*\\))? \\(E[A-Z0-9]+\\)");
            }
        }
        assertThat(SystemErrors.text(4711)).isEqualTo("an error without a name, number 4711");
    }
}
