// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic;

import io.rdma4j.protocol.ibcm.CmSettings;
import io.rdma4j.softnic.device.PortView;
import io.rdma4j.softnic.device.SoftDevice;
import io.rdma4j.softnic.device.SoftNic;
import io.rdma4j.softnic.network.DatagramNetwork;
import io.rdma4j.softnic.network.SimulatedNetwork;
import io.rdma4j.softnic.roce.RoceFamily;
import io.rdma4j.softnic.roce.RoceTransport;
import io.rdma4j.softnic.verbs.SoftDeviceContext;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.PortState;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.RdmaException;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;

import java.net.InetAddress;
import java.net.NetworkInterface;
import java.util.List;
import java.util.Random;
import java.util.regex.Pattern;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** A device whose addresses another process holds, which is so for interfaces other than loopback. */
class TakenAddressTest {
    private final SimulatedNetwork network = new SimulatedNetwork(1);
    private final DatagramNetwork other = network.newNode();
    private final SoftDevice device;
    private final InetAddress address;
    private final SoftDeviceContext context;

    TakenAddressTest() throws Exception {
        address = InetAddress.ofLiteral("192.0.2.1");
        device = new SoftDevice(RoceFamily.ROCE,
                NetworkInterface.getByInetAddress(InetAddress.getLoopbackAddress()), false,
                () -> new PortView(true, true, List.of(address)));
        other.open(address);
        SoftNic nic = new SoftNic(device,
                RoceTransport.on(network.newNode(), CmSettings.defaults(1)),
                new Random(1)::nextInt,
                network::nowNs, null);
        nic.start(null);
        context = new SoftDeviceContext(nic);
    }

    private static void assertTaken(ThrowingCallable call) {
        assertThatExceptionOfType(RdmaException.class).isThrownBy(call)
                .satisfies(e -> assertThat(e.errno()).isEqualTo(Errno.EADDRINUSE))
                .withMessageContaining("is taken");
    }

    @Test
    void itCanBeDescribed() throws RdmaException {
        assertThat(context.queryDevice().physicalPortCount()).isOne();
        assertThat(context.queryPort(1).state()).isEqualTo(PortState.ACTIVE);
        assertThat(context.queryGidTable())
                .anyMatch(entry -> entry.gid().address().equals(address));
    }

    @Test
    void itCannotBeUsed() throws RdmaException {
        ProtectionDomain domain = context.allocateProtectionDomain();
        CompletionQueue queue = context.createCompletionQueue(1);
        assertTaken(() -> domain
                .createQueuePair(new QueuePairInitAttributes().completionQueue(queue)));
        assertTaken(() -> context.claim(address));
        queue.close();
        domain.close();
    }

    @Test
    void refusalNamesTheDeviceThatWasWanted() throws RdmaException {
        try (ProtectionDomain domain = context.allocateProtectionDomain();
                CompletionQueue queue = context.createCompletionQueue(1)) {
            assertThatExceptionOfType(RdmaException.class)
                    .isThrownBy(() -> domain.createQueuePair(
                            new QueuePairInitAttributes().completionQueue(queue)))
                    .withMessageMatching("open device: " + device.name() + " cannot be used: .*"
                            + Pattern.quote(address.getHostAddress())
                            + " is taken by .*another device.* \\(EADDRINUSE\\)");
        }
    }

    @Test
    void refusalNamesTheAddressThatWasAskedForFirst() throws Exception {
        assertThatExceptionOfType(RdmaException.class).isThrownBy(() -> context.claim(address))
                .withMessageMatching("open device: " + Pattern.quote(address.getHostAddress())
                        + " is taken by .* \\(EADDRINUSE\\)");
        InetAddress asked = InetAddress.ofLiteral("198.51.100.1");
        assertThatExceptionOfType(RdmaException.class).isThrownBy(() -> context.claim(asked))
                .withMessageMatching("open device: 198\\.51\\.100\\.1 cannot be used: .*"
                        + Pattern.quote(address.getHostAddress())
                        + " is taken by .* \\(EADDRINUSE\\)");
    }

    @Test
    void addressCanBeClaimedOnceTheOtherHasEnded() throws RdmaException {
        other.close();
        context.claim(address);
        context.claim(address);
    }

    @Test
    void itCanBeUsedOnceTheOtherHasEnded() throws RdmaException {
        other.close();
        try (ProtectionDomain domain = context.allocateProtectionDomain();
                CompletionQueue queue = context.createCompletionQueue(1)) {
            domain.createQueuePair(new QueuePairInitAttributes().completionQueue(queue)).close();
        }
        context.claim(address);
    }

    /** On loopback it is left out without an error until a program asks for it; then the error says why. */
    @Test
    void addressOfLoopbackThatIsTakenIsLeftOut() throws Exception {
        InetAddress taken = InetAddress.ofLiteral("::1");
        other.open(taken);
        SoftDevice loopback = new SoftDevice(RoceFamily.ROCE,
                NetworkInterface.getByInetAddress(InetAddress.getLoopbackAddress()), true,
                () -> new PortView(true, true,
                        List.of(InetAddress.ofLiteral("127.0.0.1"), taken)));
        SoftNic nic = new SoftNic(loopback,
                RoceTransport.on(network.newNode(), CmSettings.defaults(1)),
                new Random(1)::nextInt, network::nowNs, null);
        nic.start(null);
        SoftDeviceContext opened = new SoftDeviceContext(nic);
        assertThat(opened.queryGidTable().stream().map(entry -> entry.gid().address()))
                .containsExactly(InetAddress.ofLiteral("127.0.0.1"));
        assertThatExceptionOfType(RdmaException.class).isThrownBy(() -> opened.claim(taken))
                .withMessageMatching("open device: .* is taken by .*; end that one, or use another"
                        + " address \\(EADDRINUSE\\)");
    }

    @Test
    void loopbackWithoutAFreeAddressSaysSo() throws Exception {
        for (int n = 1; n < 255; n++) {
            other.open(InetAddress.ofLiteral("127.0.0." + n));
        }
        SoftDevice loopback = new SoftDevice(RoceFamily.ROCE,
                NetworkInterface.getByInetAddress(InetAddress.getLoopbackAddress()), true,
                () -> new PortView(true, true, List.of(InetAddress.ofLiteral("127.0.0.1"))));
        SoftNic nic = new SoftNic(loopback,
                RoceTransport.on(network.newNode(), CmSettings.defaults(1)),
                new Random(1)::nextInt, network::nowNs, null);
        assertThatExceptionOfType(RdmaException.class).isThrownBy(() -> nic.start(null))
                .withMessageMatching("open device: all of 127\\.0\\.0\\.1 to 127\\.0\\.0\\.254"
                        + " are taken, the first by .*which does not share it: processes of one user"
                        + " in one network namespace of Linux do.* \\(EADDRINUSE\\)");
    }
}
