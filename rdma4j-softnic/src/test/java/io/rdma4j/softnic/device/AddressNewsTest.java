package io.rdma4j.softnic.device;

import io.rdma4j.protocol.ibcm.CmSettings;
import io.rdma4j.softnic.network.DatagramNetwork;
import io.rdma4j.softnic.network.SimulatedNetwork;
import io.rdma4j.softnic.roce.RoceFamily;
import io.rdma4j.softnic.roce.RoceTransport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import java.net.InetAddress;
import java.net.NetworkInterface;
import java.text.MessageFormat;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;

import static org.assertj.core.api.Assertions.assertThat;

/** What the log says of the address of a loopback device. */
class AddressNewsTest {
    /** Held, or the logging system would forget the handler with the logger. */
    private static final Logger LOGGER = Logger.getLogger(NicAddresses.class.getName());

    private final List<String> lines = new ArrayList<>();
    private final Handler handler = new Handler() {
        @Override
        public void publish(LogRecord line) {
            lines.add(line.getLevel() + " "
                    + MessageFormat.format(line.getMessage(), line.getParameters()));
        }

        @Override
        public void flush() {}

        @Override
        public void close() {}
    };
    private final SimulatedNetwork network = new SimulatedNetwork(1);
    private final DatagramNetwork other = network.newNode();

    @BeforeEach
    void listen() {
        LOGGER.setUseParentHandlers(false);
        LOGGER.addHandler(handler);
    }

    @AfterEach
    void stopListening() {
        LOGGER.removeHandler(handler);
        LOGGER.setUseParentHandlers(true);
    }

    private void openLoopback() throws Exception {
        SoftDevice loopback = new SoftDevice(RoceFamily.ROCE,
                NetworkInterface.getByInetAddress(InetAddress.getLoopbackAddress()), true,
                () -> new PortView(true, true, List.of(InetAddress.ofLiteral("127.0.0.1"))));
        SoftNic nic = new SoftNic(loopback,
                RoceTransport.on(network.newNode(), "start Java with --some-flag",
                        CmSettings.defaults(1)),
                new Random(1)::nextInt, network::nowNs, null);
        nic.start(null);
    }

    @Test
    void anotherAddressThanTheFirstIsToldWithWhatToDoAboutIt() throws Exception {
        other.open(InetAddress.ofLiteral("127.0.0.1"));
        openLoopback();
        assertThat(lines).singleElement().asString()
                .startsWith(Level.INFO + " roce_lo is at 127.0.0.2: 127.0.0.1 is taken by ")
                .endsWith("; this process cannot: start Java with --some-flag")
                .doesNotContain("\n");
    }

    @Test
    void theFirstAddressIsNoNews() throws Exception {
        openLoopback();
        assertThat(lines).isEmpty();
    }
}
