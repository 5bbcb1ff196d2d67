package io.rdma4j.tools.doctor;

import io.rdma4j.tools.options.DeviceName;
import io.rdma4j.verbs.DeviceKind;
import io.rdma4j.verbs.RdmaDevice;
import io.rdma4j.verbs.RdmaDevices;
import io.rdma4j.verbs.RdmaException;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

import java.util.List;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;

/** Checks a machine: what native devices lack, and whether each device there is carries a message to itself. */
@Command(name = "doctor",
        description = {"Check what RDMA needs on this machine, and say what to do.",
            "Each device carries a message to itself; 'failed' is what should work and does not,"
                    + " 'note' what can be done besides."})
public final class Doctor implements Callable<Integer> {
    @Option(names = {"-d",
        "--ib-dev"}, paramLabel = "DEV", description = "Check this device only (default: all).")
    private @Nullable String deviceName;

    @Spec
    private CommandSpec spec = CommandSpec.create();

    @Override
    public Integer call() throws RdmaException {
        List<RdmaDevice> devices = DeviceName.devices(deviceName);
        Checklist checklist = new Checklist(spec.commandLine().getOut());
        checkMachine(checklist);
        if (devices.isEmpty()) {
            checklist
                    .failed("there is no RDMA device: the software NIC, rdma4j-softnic, has one for"
                            + " each network interface that is up (ip link set lo up)");
        }
        devices.forEach(device -> new DeviceCheck(device, checklist).run());
        if (checklist.failures() > 0) {
            spec.commandLine().getErr().printf("doctor: %d of what should work %s%n",
                    checklist.failures(), checklist.failures() == 1 ? "does not" : "do not");
            return 1;
        }
        return 0;
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
