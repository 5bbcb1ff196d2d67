// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.iwarp;

import io.rdma4j.connection.PortSpace;
import io.rdma4j.softnic.device.BackendChoice;
import io.rdma4j.softnic.device.DeviceFamily;
import io.rdma4j.softnic.device.SoftNicOptions;
import io.rdma4j.softnic.network.linux.stream.LinuxStreams;
import io.rdma4j.softnic.network.stream.CapturingStreams;
import io.rdma4j.softnic.network.stream.ImpairedStreams;
import io.rdma4j.softnic.network.stream.PortableStreams;
import io.rdma4j.softnic.network.stream.StreamNetwork;
import io.rdma4j.softnic.options.DeviceOptions;
import io.rdma4j.softnic.options.Loopback;
import io.rdma4j.softnic.options.NetworkBackend;
import io.rdma4j.softnic.verbs.TransportHost;
import io.rdma4j.spi.PortAuthority;
import io.rdma4j.verbs.NodeType;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.TransportType;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;

/** iWARP devices, named {@code iwarp_} and the network interface's name. */
public final class IwarpFamily implements DeviceFamily {
    /** The only instance. */
    public static final DeviceFamily IWARP = new IwarpFamily(IwarpPatience.USUAL);

    private static final System.Logger LOG = System.getLogger(IwarpFamily.class.getName());

    private final IwarpPatience patience;
    private final AtomicBoolean isFallBackLogged = new AtomicBoolean();

    /** @param patience of its devices */
    IwarpFamily(IwarpPatience patience) {
        this.patience = patience;
    }

    @Override
    public String prefix() {
        return "iwarp_";
    }

    @Override
    public NodeType nodeType() {
        return NodeType.RNIC;
    }

    @Override
    public TransportType transport() {
        return TransportType.IWARP;
    }

    @Override
    public PortAuthority portAuthority() {
        return TcpPorts.OF_SYSTEM;
    }

    /** {@return whether any program accepts TCP connections there} */
    @Override
    public boolean seesListener(PortSpace space, InetAddress source,
            InetSocketAddress destination) {
        return space == PortSpace.TCP && TcpLook.isAccepted(source, destination);
    }

    @Override
    public Opening open(NetworkInterface on, long nodeGuid, SoftNicOptions options)
            throws RdmaException {
        DeviceOptions wanted = options.device();
        Optional<String> impossible = wanted.impairment().nameOfPacketsOnly();
        if (impossible.isPresent()) {
            throw RdmaException.unsupported("open device", "impairment '" + impossible.get()
                    + "' is for packets; a byte stream has delay, jitter, corrupt, stall, cut and reset");
        }
        IwarpSettings settings = IwarpSettings.ofSystem(patience);
        BackendChoice choice = choice(wanted.backend());
        StreamNetwork network = newNetwork(choice, wanted);
        logFallBack(wanted.backend(), choice);
        return new Opening(wanted.withBackend(choice.kind()).withLoopback(Loopback.NETWORK),
                Map.of("network back-end", choice.toString()),
                host -> newTransport(network, settings, host));
    }

    private static IwarpTransport newTransport(StreamNetwork network, IwarpSettings settings,
            TransportHost host) {
        try {
            return new IwarpTransport(network, settings, host);
        } catch (OutOfMemoryError none) {
            network.close();
            throw none;
        }
    }

    /** Says once that the kernel has refused the network that is usual here; not where none is to be expected. */
    private void logFallBack(NetworkBackend wanted, BackendChoice choice) {
        if (wanted == NetworkBackend.AUTO && choice.kind() == NetworkBackend.PORTABLE
                && LinuxStreams.isTried()
                && isFallBackLogged.compareAndSet(false, true)) {
            LOG.log(System.Logger.Level.WARNING,
                    "iWARP devices use the network portable, whose calls cost more: {0}",
                    choice.reason());
        }
    }

    private static BackendChoice choice(NetworkBackend wanted) throws RdmaException {
        // A program that wants the portable back-end shall not load the native calls of the other.
        String obstacle = wanted == NetworkBackend.PORTABLE ? null : LinuxStreams.obstacle();
        return BackendChoice.of(wanted, obstacle,
                "calls that cost less, and know what has arrived");
    }

    private static StreamNetwork newNetwork(BackendChoice choice, DeviceOptions wanted)
            throws RdmaException {
        StreamNetwork network = choice.kind() == NetworkBackend.LINUX ? new LinuxStreams()
                : new PortableStreams();
        Path file = wanted.capture();
        if (file != null) {
            network = CapturingStreams.open(network, file);
        }
        return wanted.impairment().isNone() ? network
                : new ImpairedStreams(network, wanted.impairment());
    }
}
