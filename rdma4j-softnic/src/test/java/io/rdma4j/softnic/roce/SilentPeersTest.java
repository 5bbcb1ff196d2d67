// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.roce;

import io.rdma4j.protocol.ibcm.CmSettings;
import io.rdma4j.verbs.RdmaException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** How long a device waits for silent peers, by system properties. */
class SilentPeersTest {
    private static final CmSettings USUAL = CmSettings.defaults(1);

    @AfterEach
    void clear() {
        System.clearProperty("rdma4j.patience");
        System.clearProperty("rdma4j.cm.responseTimeout");
    }

    @Test
    void aPropertyLengthensTheTimeOutsOfConnections() throws Exception {
        assertThat(RoceFamily.patience(USUAL)).isEqualTo(USUAL);
        System.setProperty("rdma4j.patience", "3600");
        assertThat(RoceFamily.patience(USUAL)).isEqualTo(USUAL.forSilence(3600));
        assertThat(RoceFamily.patience(USUAL).ackTimeout()).isEqualTo(27);
        System.setProperty("rdma4j.cm.responseTimeout", "13");
        assertThat(RoceFamily.patience(USUAL).responseTimeout()).isEqualTo(13);
        assertThat(RoceFamily.patience(USUAL).ackTimeout()).isEqualTo(27);
    }

    @Test
    void whatIsNoTimeIsRefused() {
        System.setProperty("rdma4j.patience", "1h");
        assertThatExceptionOfType(RdmaException.class)
                .isThrownBy(() -> RoceFamily.patience(USUAL))
                .withMessageContaining("rdma4j.patience must be a number, not '1h'");
    }
}
