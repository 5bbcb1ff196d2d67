// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.doctor;

import org.junit.jupiter.api.Test;

import java.net.ConnectException;
import java.net.NoRouteToHostException;
import java.net.SocketException;

import static org.assertj.core.api.Assertions.assertThat;

class PeerCheckTest {
    @Test
    void portWithoutADoctorIsKnownInAnyLanguage() {
        assertThat(PeerCheck.isRefused(new ConnectException("Connection refused"))).isTrue();
        assertThat(PeerCheck.isRefused(new ConnectException("Verbindungsaufbau abgelehnt")))
                .isTrue();
        assertThat(PeerCheck.isRefused(new ConnectException("Connection timed out"))).isFalse();
        assertThat(PeerCheck.isRefused(new NoRouteToHostException("Aucun chemin"))).isFalse();
        assertThat(PeerCheck.isRefused(new SocketException("Network is unreachable"))).isFalse();
    }
}
