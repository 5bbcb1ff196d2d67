// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.examples;

import io.rdma4j.cm.CmId;
import io.rdma4j.softnic.device.PortView;
import io.rdma4j.softnic.device.SoftNic;
import io.rdma4j.softnic.verbs.SoftDeviceContext;
import io.rdma4j.spi.CmContext;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.io.PrintWriter;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.function.Consumer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** Servers whose address goes for a moment, and servers whose device goes for good. */
@Timeout(60)
class LostDeviceTest {
    private final Output server = new Output();
    private final Output client = new Output();

    /** What happens to a server that gets events of its listener among those of its clients. */
    enum Example {
        BASIC {
            @Override
            void serve(PrintWriter out, Consumer<CmId> onListening) throws Exception {
                BasicServer.run(TwoSides.ANY_PORT, 1, out, onListening);
            }

            @Override
            void connect(InetSocketAddress to, PrintWriter out) throws Exception {
                BasicClient.run(to, out);
            }
        },
        ONE_SELECTOR {
            @Override
            void serve(PrintWriter out, Consumer<CmId> onListening) throws Exception {
                OneSelector.serve(TwoSides.ANY_PORT, 1, out, onListening);
            }

            @Override
            void connect(InetSocketAddress to, PrintWriter out) throws Exception {
                OneSelector.ask(to, "text", out);
            }
        };

        abstract void serve(PrintWriter out, Consumer<CmId> onListening) throws Exception;

        abstract void connect(InetSocketAddress to, PrintWriter out) throws Exception;
    }

    private static SoftNic nic(CmId listener) {
        return (SoftNic) ((SoftDeviceContext) listener.context()).nic();
    }

    private static void loseAddressForAMoment(CmId listener) {
        SoftNic nic = nic(listener);
        nic.onPort(new PortView(true, true, List.of()));
        nic.lookAtPort();
        try {
            // Of loopback, which has more addresses than it uses by itself.
            ((CmContext) listener.context()).claim(TwoSides.ANY_PORT.getAddress());
        } catch (RdmaException e) {
            throw new IllegalStateException(e);
        }
    }

    @ParameterizedTest
    @EnumSource
    void serverGoesOnWhenItsAddressGoesForAMoment(Example example) throws Exception {
        TwoSides.run(ready -> example.serve(server.out, listener -> {
            loseAddressForAMoment(listener);
            ready.accept(listener);
        }), address -> example.connect(address, client.out));
        assertThat(server.lines()).noneMatch(line -> line.startsWith("connection failed"));
    }

    @ParameterizedTest
    @EnumSource
    void serverEndsWithItsDevice(Example example) {
        assertThatExceptionOfType(RdmaException.class)
                .isThrownBy(() -> example.serve(server.out,
                        listener -> nic(listener)
                                .onPort(new PortView(false, false, List.of()))))
                .satisfies(e -> assertThat(e.errno()).isEqualTo(Errno.ENODEV))
                .withMessageContaining("listen: the device is gone");
    }
}
