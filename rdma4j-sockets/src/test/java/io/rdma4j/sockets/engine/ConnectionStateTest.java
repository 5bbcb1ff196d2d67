// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets.engine;

import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.net.SocketException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatNoException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** What those learn who read and write a connection that has failed. */
class ConnectionStateTest {
    private final ConnectionState state = new ConnectionState();

    /** Over TCP a connection that was given up says so once, and then its input has ended. */
    @Test
    void whoReadsLearnsOnceThatItIsLost() {
        assertThatNoException().isThrownBy(state::throwToReader);
        state.fail(new SocketException("Connection lost"));
        state.reset("Connection reset");
        assertThatThrownBy(state::throwToReader).isInstanceOf(SocketException.class)
                .hasMessage("Connection lost");
        assertThatNoException().isThrownBy(state::throwToReader);
        assertThat(state.isReadable()).isTrue();
        assertThat(state.isBroken()).isTrue();
    }

    /** Each time, as the JDK's channels and sockets do. */
    @Test
    void whoReadsLearnsEachTimeThatItWasReset() {
        state.reset("Connection reset");
        state.fail(new SocketException("Connection lost"));
        for (int i = 0; i < 3; i++) {
            assertThatThrownBy(state::throwToReader).isInstanceOf(SocketException.class)
                    .hasMessage("Connection reset");
        }
    }

    @Test
    void whoWritesLearnsEachTime() {
        state.fail(new IOException("Connection lost"));
        assertThatThrownBy(state::throwToReader).hasMessage("Connection lost");
        for (int i = 0; i < 3; i++) {
            assertThatThrownBy(state::throwFailure).isInstanceOf(IOException.class)
                    .hasMessage("Connection lost");
        }
    }
}
