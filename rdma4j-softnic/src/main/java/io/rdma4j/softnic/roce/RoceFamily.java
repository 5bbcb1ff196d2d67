// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.roce;

import io.rdma4j.connection.PortSpace;
import io.rdma4j.protocol.ibcm.CmSettings;
import io.rdma4j.softnic.device.BackendChoice;
import io.rdma4j.softnic.device.DeviceFamily;
import io.rdma4j.softnic.device.SoftNicOptions;
import io.rdma4j.softnic.network.CapturingNetwork;
import io.rdma4j.softnic.network.DatagramNetwork;
import io.rdma4j.softnic.network.ImpairedNetwork;
import io.rdma4j.softnic.network.PortableNetwork;
import io.rdma4j.softnic.network.linux.datagram.LinuxNetwork;
import io.rdma4j.softnic.options.DeviceOptions;
import io.rdma4j.softnic.options.Loopback;
import io.rdma4j.softnic.options.NetworkBackend;
import io.rdma4j.softnic.verbs.TransportHost;
import io.rdma4j.spi.PortAuthority;
import io.rdma4j.verbs.NodeType;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.TransportType;
import org.jspecify.annotations.Nullable;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.nio.file.Path;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;

/** RoCE devices, named {@code roce_} and the network interface's name. */
public final class RoceFamily implements DeviceFamily {
    /** The only instance. */
    public static final DeviceFamily ROCE = new RoceFamily();

    private static final System.Logger LOG = System.getLogger(RoceFamily.class.getName());
    private static final int MAX_TIMEOUT = 31;
    private static final int MAX_RETRIES = 15;

    /** By the prefix of the process; a back-end without prefixes has its own. */
    private final Map<Integer, ProcessNumbers> numbers = new ConcurrentHashMap<>();

    private final AtomicBoolean isFallBackLogged = new AtomicBoolean();

    private RoceFamily() {}

    @Override
    public String prefix() {
        return "roce_";
    }

    @Override
    public NodeType nodeType() {
        return NodeType.CHANNEL_ADAPTER;
    }

    @Override
    public TransportType transport() {
        return TransportType.INFINIBAND;
    }

    @Override
    public PortAuthority portAuthority() {
        return ServicePortAuthority.AUTHORITY;
    }

    /** {@return false} Its listeners answer nothing but requests. */
    @Override
    public boolean seesListener(PortSpace space, InetAddress source,
            InetSocketAddress destination) {
        return false;
    }

    @Override
    public Opening open(NetworkInterface on, long nodeGuid, SoftNicOptions options)
            throws RdmaException {
        DeviceOptions wanted = options.device();
        Optional<String> impossible = wanted.impairment().nameOfStreamsOnly();
        if (impossible.isPresent()) {
            throw RdmaException.unsupported("open device", "impairment '" + impossible.get()
                    + "' is for byte streams, as iWARP devices have; packets have loss, duplicate,"
                    + " corrupt, reorder, delay and jitter");
        }
        CmSettings settings = patience(CmSettings.defaults(nodeGuid));
        BackendChoice choice = choice(wanted.backend());
        DatagramNetwork network = newNetwork(on, choice, options);
        logFallBack(wanted.backend(), choice);
        String obstacle = obstacleToSharing(choice, network);
        Loopback loopback = options.loopback() == Loopback.AUTO && network.sharedMemory() == null
                ? Loopback.DIRECT
                : options.loopback();
        boolean skipsNetwork = loopback == Loopback.AUTO || loopback == Loopback.DIRECT;
        return new Opening(wanted.withBackend(choice.kind()).withLoopback(loopback),
                details(choice, loopback), host -> {
                    RoceTransport transport = newTransport(network, obstacle, settings, host);
                    transport.skipNetwork(skipsNetwork);
                    return transport;
                });
    }

    private RoceTransport newTransport(DatagramNetwork network,
            @Nullable String obstacleToSharing, CmSettings settings, TransportHost host) {
        try {
            return new RoceTransport(network, obstacleToSharing, settings, host,
                    numbers.computeIfAbsent(network.sharing().prefix(),
                            _ -> new ProcessNumbers(network.sharing(), host.random())));
        } catch (OutOfMemoryError none) {
            network.close();
            throw none;
        }
    }

    /** Says once that the kernel has refused the network that is usual here; not where none is to be expected. */
    private void logFallBack(NetworkBackend wanted, BackendChoice choice) {
        if (wanted == NetworkBackend.AUTO && choice.kind() == NetworkBackend.PORTABLE
                && LinuxNetwork.isTried()
                && isFallBackLogged.compareAndSet(false, true)) {
            LOG.log(System.Logger.Level.WARNING,
                    "RoCE devices use the network portable, whose packets each cost a system call:"
                            + " {0}",
                    choice.reason());
        }
    }

    /**
     * {@return which network serves RoCE devices}
     *
     * @throws RdmaException EOPNOTSUPP saying why the one that is wanted does not work here
     */
    public static BackendChoice choice(NetworkBackend wanted) throws RdmaException {
        // A program that wants the portable back-end shall not load the native calls of the other.
        String obstacle = wanted == NetworkBackend.PORTABLE ? null : LinuxNetwork.obstacle();
        return BackendChoice.of(wanted, obstacle, "UDP segmentation and receive offload");
    }

    /**
     * {@return a network}
     *
     * @param loopback the path of packets that stay on this machine; not {@link Loopback#AUTO} if they are recorded or
     *         impaired
     * @throws RdmaException EOPNOTSUPP if this path is not possible
     */
    public static DatagramNetwork network(BackendChoice choice, NetworkInterface on,
            Loopback loopback) throws RdmaException {
        if (choice.kind() == NetworkBackend.LINUX) {
            return new LinuxNetwork(on, switch (loopback) {
                case AUTO -> LinuxNetwork.SharedMemoryUse.OTHERS;
                case SHARED -> LinuxNetwork.SharedMemoryUse.ALL;
                case DIRECT, NETWORK -> LinuxNetwork.SharedMemoryUse.NEVER;
            });
        }
        if (loopback == Loopback.SHARED) {
            throw RdmaException.unsupported("open device",
                    "the loopback shared needs the network back-end linux");
        }
        return new PortableNetwork(on);
    }

    /** {@return why the network's addresses are not shared, null if they are} A network of which nobody knows is closed. */
    private static @Nullable String obstacleToSharing(BackendChoice choice,
            DatagramNetwork network) throws RdmaException {
        if (choice.kind() == NetworkBackend.PORTABLE) {
            return "its network back-end is " + choice;
        }
        try {
            return network.sharing().isShared() ? null : LinuxNetwork.obstacleToSharing();
        } catch (RdmaException e) {
            network.close();
            throw e;
        }
    }

    private static DatagramNetwork newNetwork(NetworkInterface on, BackendChoice choice,
            SoftNicOptions options) throws RdmaException {
        DatagramNetwork network = network(choice, on, options.loopback());
        Path file = options.device().capture();
        if (file != null) {
            network = CapturingNetwork.open(network, file);
        }
        return options.device().impairment().isNone() ? network
                : new ImpairedNetwork(network, options.device().impairment());
    }

    /**
     * {@return the settings with the system properties {@code rdma4j.patience}, the seconds for which a peer may be silent,
     * {@code rdma4j.cm.responseTimeout}, 4.096 us times 2 to this power, and {@code rdma4j.cm.maxRetries}}
     */
    static CmSettings patience(CmSettings defaults) throws RdmaException {
        CmSettings patient = defaults.forSilence(
                SoftNicOptions.number("rdma4j.patience", CmSettings.LONGEST_SILENCE, 0));
        return patient.withPatience(
                SoftNicOptions.number("rdma4j.cm.responseTimeout", MAX_TIMEOUT,
                        patient.responseTimeout()),
                SoftNicOptions.number("rdma4j.cm.maxRetries", MAX_RETRIES, patient.maxRetries()));
    }

    private static Map<String, String> details(BackendChoice choice, Loopback loopback) {
        Map<String, String> details = new LinkedHashMap<>();
        details.put("network back-end", choice.toString());
        details.put("loopback", loopback.text() + switch (loopback) {
            case AUTO -> " (direct within the process, shared memory between processes)";
            case DIRECT -> " (direct within the process, network between processes)";
            case SHARED -> " (shared memory within the process and between processes)";
            case NETWORK -> " (network within the process and between processes)";
        });
        return Collections.unmodifiableMap(details);
    }
}
