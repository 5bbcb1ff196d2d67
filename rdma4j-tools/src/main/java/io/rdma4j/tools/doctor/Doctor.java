// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.doctor;

import io.rdma4j.tools.options.DeviceName;
import io.rdma4j.tools.options.Refusal;
import io.rdma4j.tools.options.WholeNumber;
import io.rdma4j.tools.output.Terminal;
import io.rdma4j.verbs.DeviceKind;
import io.rdma4j.verbs.RdmaDevice;
import io.rdma4j.verbs.RdmaDevices;
import io.rdma4j.verbs.RdmaException;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

import java.io.IOException;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;

/**
 * Checks a machine: what native devices lack, which interfaces are down, and whether each device there is carries a message to
 * itself. With another host where a doctor serves, also what the network between the two lets pass.
 */
@Command(name = "doctor",
        description = {"Check what RDMA needs on this machine, and say what to do.",
            "Each device carries a message to itself; 'failed' is what should work and does not,"
                    + " 'note' what can be done besides.",
            "With HOST, where 'doctor -s' runs: try RoCE, iWARP and the path MTU between the two"
                    + " hosts, and say what stands between; it takes less than half a minute."})
public final class Doctor implements Callable<Integer> {
    /** Where doctors meet unless another port is chosen. */
    static final int PORT = 18514;

    private static final int LAST_PORT = 65535;

    @Option(names = {"-d",
        "--ib-dev"}, paramLabel = "DEV", description = "Check this device only (default: all).")
    private @Nullable String deviceName;

    @Parameters(arity = "0..1", paramLabel = "HOST",
            description = "Check the way to this host only.")
    private @Nullable String host;

    @Option(names = {"-s", "--server"},
            description = "Serve the doctors of other hosts, until it is ended.")
    private boolean isServer;

    @Option(names = {"-p", "--port"}, paramLabel = "PORT", defaultValue = "" + PORT,
            converter = WholeNumber.class,
            description = "TCP port by which doctors meet (default: ${DEFAULT-VALUE}); the"
                    + " connections that they try go to the next one.")
    private long port;

    @Spec
    private CommandSpec spec = CommandSpec.create();

    @Override
    public Integer call() throws IOException {
        String peer = host;
        WholeNumber.requireRange(spec, "-p", port, isServer ? 0 : 1, LAST_PORT);
        Refusal.when(spec, isServer && peer != null,
                "-s and HOST: on one host 'doctor -s', on the other 'doctor HOST'");
        Refusal.when(spec, deviceName != null && (isServer || peer != null),
                "-d is for a check of this machine; between hosts the addresses decide");
        if (isServer) {
            new TrialServer(spec.commandLine().getOut(), (int) port).serve();
        }
        Checklist checklist = new Checklist(spec.commandLine().getOut(), Terminal.columns());
        if (peer != null) {
            new PeerCheck(peer, (int) port, checklist).run();
        } else {
            checkThisMachine(checklist);
        }
        if (checklist.failures() > 0) {
            spec.commandLine().getErr().printf("doctor: %d of what should work %s%n",
                    checklist.failures(), checklist.failures() == 1 ? "does not" : "do not");
            return 1;
        }
        return 0;
    }

    private void checkThisMachine(Checklist checklist) throws RdmaException {
        InterfaceCheck interfaces = new InterfaceCheck(checklist);
        List<RdmaDevice> devices = devices(interfaces);
        checkMachine(checklist);
        interfaces.run();
        if (devices.isEmpty()) {
            checklist
                    .failed("there is no RDMA device: the software NIC, rdma4j-softnic, has one for"
                            + " each network interface that is up (ip link set lo up)");
        }
        devices.forEach(device -> new DeviceCheck(device, checklist).run());
    }

    /** A device is missing where its interface is down, which is more than that there is none. */
    private List<RdmaDevice> devices(InterfaceCheck interfaces) throws RdmaException {
        String only = deviceName;
        try {
            return DeviceName.devices(only);
        } catch (RdmaException e) {
            String obstacle = only == null
                    ? null
                    : interfaces.obstacle(only.substring(only.indexOf('_') + 1));
            throw obstacle == null ? e
                    : new RdmaException(e.errno(), e.operation(), obstacle, e);
        }
    }

    private static void checkMachine(Checklist checklist) {
        checklist.heading("machine");
        checklist.ok(String.join(" ", System.getProperty("os.name"),
                System.getProperty("os.version"), "on", System.getProperty("os.arch") + ", Java",
                System.getProperty("java.version")));
        String nativeDevices = RdmaDevices.list().stream()
                .filter(device -> device.kind() == DeviceKind.NATIVE).map(RdmaDevice::name)
                .collect(Collectors.joining(", "));
        if (!nativeDevices.isEmpty()) {
            checklist.ok("native devices: " + nativeDevices);
        }
        RdmaDevices.remarks().forEach(checklist::note);
    }
}
