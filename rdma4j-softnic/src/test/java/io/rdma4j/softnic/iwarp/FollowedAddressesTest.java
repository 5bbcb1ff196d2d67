// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.iwarp;

import io.rdma4j.connection.PortSpace;
import io.rdma4j.softnic.device.PortView;
import io.rdma4j.softnic.device.SoftDevice;
import io.rdma4j.softnic.device.SoftNic;
import io.rdma4j.softnic.verbs.SoftDeviceContext;
import io.rdma4j.spi.CmListener;
import io.rdma4j.spi.ListenRequest;
import io.rdma4j.testkit.LogLines;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.QueuePairType;
import io.rdma4j.verbs.RdmaException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.net.InetAddress;
import java.net.NetworkInterface;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** Where an iWARP device listens, while addresses come and go and others have the port. */
class FollowedAddressesTest {
    private static final InetAddress FIRST = InetAddress.ofLiteral("10.0.0.1");
    private static final InetAddress SECOND = InetAddress.ofLiteral("10.0.0.2");
    private static final InetAddress THIRD = InetAddress.ofLiteral("2001:db8::1");

    private final ReachableStreams network = new ReachableStreams();
    @RegisterExtension
    final LogLines log = LogLines.of(IwarpListener.class);
    private final SoftNic nic;
    private final SoftDeviceContext context;
    private PortView view = up(FIRST, SECOND);

    FollowedAddressesTest() throws Exception {
        SoftDevice device = new SoftDevice(IwarpFamily.IWARP,
                NetworkInterface.getByInetAddress(InetAddress.getLoopbackAddress()), false,
                () -> view);
        IwarpSettings settings = IwarpSettings.ofSystem(IwarpPatience.USUAL);
        nic = new SoftNic(device, host -> new IwarpTransport(network, settings, host),
                new Random(1)::nextInt, System::nanoTime, null);
        nic.start(null);
        context = SoftNic.contextOf(nic);
    }

    @AfterEach
    void close() {
        nic.shutDown();
    }

    private static PortView up(InetAddress... addresses) {
        return new PortView(true, true, List.of(addresses));
    }

    private CmListener listen(@Nullable InetAddress address) throws RdmaException {
        return context
                .listen(new ListenRequest(PortSpace.TCP, QueuePairType.RC, 7471, null, address,
                        null, 1, null), (via, request, local, peer, parameters) -> {
                            throw new IllegalStateException("nobody asks");
                        });
    }

    private void look(PortView now) {
        view = now;
        nic.lookAtPort();
        nic.lookRegularly();
    }

    @Test
    void oneAddressThatCannotBeUsedKeepsNoOtherFromBeingListenedAt() throws Exception {
        network.unusable.add(SECOND);
        listen(null);
        assertThat(network.listening).containsExactly(FIRST);
        look(view);
        look(view);
        assertThat(log.lines()).singleElement().asString().startsWith(
                "WARNING nobody can connect to 10.0.0.2 port 7471: 10.0.0.2 ");
        network.unusable.clear();
        look(view);
        assertThat(network.listening).containsExactlyInAnyOrder(FIRST, SECOND);
        assertThat(log.lines()).hasSize(2).last()
                .isEqualTo("INFO 10.0.0.2 port 7471 can be connected to now");
    }

    @Test
    void listenerBeginsThoughNoAddressCanBeUsedYet() throws Exception {
        network.unusable.addAll(List.of(FIRST, SECOND));
        listen(null);
        network.unusable.clear();
        look(view);
        assertThat(network.listening).containsExactlyInAnyOrder(FIRST, SECOND);
    }

    @Test
    void portThatAnotherProgramHasAtEachAddressIsRefused() {
        network.taken.addAll(List.of(FIRST, SECOND));
        assertThatExceptionOfType(RdmaException.class).isThrownBy(() -> listen(null))
                .satisfies(e -> assertThat(e.errno()).isEqualTo(Errno.EADDRINUSE));
        assertThat(network.listening).isEmpty();
    }

    @Test
    void portThatAnotherProgramGivesBackIsListenedAt() throws Exception {
        network.taken.add(SECOND);
        listen(null);
        network.taken.clear();
        look(view);
        assertThat(network.listening).containsExactlyInAnyOrder(FIRST, SECOND);
    }

    /** Its interface was deleted since it was listed, a filter keeps this program from it, or descriptors are short. */
    @ParameterizedTest
    @EnumSource(value = Errno.class, names = {"ENODEV", "EPERM", "EACCES", "EMFILE", "ENOBUFS",
        "EIO"})
    void addressThatIsRefusedForAnyReasonKeepsNoOtherFromBeingListenedAt(Errno reason)
            throws Exception {
        network.refused.put(FIRST, reason);
        listen(null);
        assertThat(network.listening).containsExactly(SECOND);
        assertThat(log.lines()).singleElement().asString().startsWith(
                "WARNING nobody can connect to 10.0.0.1 port 7471: 10.0.0.1 is refused");
        network.refused.clear();
        look(view);
        assertThat(network.listening).containsExactlyInAnyOrder(FIRST, SECOND);
    }

    @Test
    void listenerThatIsRefusedEverywhereSaysWhy() {
        network.unusable.add(FIRST);
        network.refused.put(SECOND, Errno.EPERM);
        assertThatExceptionOfType(RdmaException.class).isThrownBy(() -> listen(null))
                .satisfies(e -> assertThat(e.errno()).isEqualTo(Errno.EPERM));
    }

    @Test
    void listenerAtOneAddressIsThereAgainWhenTheAddressIs() throws Exception {
        listen(FIRST);
        look(up(SECOND));
        assertThat(network.listening).isEmpty();
        look(up(SECOND, FIRST));
        assertThat(network.listening).containsExactly(FIRST);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10})
    void whateverChangesInWhateverOrderItListensWhereItCan(int seed) throws Exception {
        Random random = new Random(seed);
        List<InetAddress> all = List.of(FIRST, SECOND, THIRD);
        Set<InetAddress> present = new HashSet<>(List.of(FIRST, SECOND));
        CmListener listener = listen(null);
        for (int step = 0; step < 200; step++) {
            InetAddress changed = all.get(random.nextInt(all.size()));
            Set<InetAddress> set = switch (random.nextInt(3)) {
                case 0 -> present;
                case 1 -> network.listening.contains(changed) ? present : network.taken;
                default -> network.listening.contains(changed) ? present : network.unusable;
            };
            if (!set.remove(changed)) {
                set.add(changed);
            }
            look(up(present.toArray(InetAddress[]::new)));
            Set<InetAddress> expected = new HashSet<>(present);
            expected.removeAll(network.taken);
            expected.removeAll(network.unusable);
            assertThat(network.listening).as("seed %s, step %s", seed, step).isEqualTo(expected);
        }
        listener.close();
        assertThat(network.listening).isEmpty();
    }
}
