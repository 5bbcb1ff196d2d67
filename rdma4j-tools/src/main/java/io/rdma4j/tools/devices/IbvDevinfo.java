// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.devices;

import io.rdma4j.tools.options.DeviceName;
import io.rdma4j.tools.options.Numbers;
import io.rdma4j.verbs.AtomicCapability;
import io.rdma4j.verbs.DeviceAttributes;
import io.rdma4j.verbs.DeviceCapability;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.DeviceLimit;
import io.rdma4j.verbs.GidEntry;
import io.rdma4j.verbs.PortAttributes;
import io.rdma4j.verbs.RdmaDevice;
import io.rdma4j.verbs.RdmaDevices;
import io.rdma4j.verbs.RdmaException;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

import java.io.PrintWriter;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;

/** Describes devices, as the tool of that name in rdma-core. */
@Command(name = "ibv_devinfo", description = "Describe the RDMA devices of this machine.")
public final class IbvDevinfo implements Callable<Integer> {
    @Option(names = {"-d",
        "--ib-dev"}, paramLabel = "DEV", description = "Describe this device only (default: all).")
    private @Nullable String deviceName;

    @Option(names = {"-i",
        "--ib-port"}, paramLabel = "PORT", converter = Numbers.DevicePort.class,
            description = "Describe this port only (default: all).")
    private int onlyPort;

    @Option(names = {"-l",
        "--list"}, description = "Print the names of the devices only.")
    private boolean isList;

    @Option(names = {"-v",
        "--verbose"}, description = "Print all attributes, and why there are no other devices.")
    private boolean isVerbose;

    @Spec
    private CommandSpec spec = CommandSpec.create();

    @Override
    public Integer call() throws RdmaException {
        PrintWriter out = spec.commandLine().getOut();
        List<RdmaDevice> devices = DeviceName.devices(deviceName);
        if (isList) {
            out.printf("%d HCA%s found:%n", devices.size(), devices.size() == 1 ? "" : "s");
            devices.forEach(device -> out.printf("\t%s%n", device.name()));
            out.println();
            return 0;
        }
        int status = 1;
        if (devices.isEmpty()) {
            spec.commandLine().getErr().println("No IB devices found");
        } else {
            status = EachDevice.look(spec, devices, context -> describe(context, out));
        }
        if (isVerbose && deviceName == null) {
            // Not in the original: which devices there could be besides.
            RdmaDevices.remarks().forEach(remark -> out.printf("remark:\t%s%n", remark));
            out.flush();
        }
        return status;
    }

    private void describe(DeviceContext context, PrintWriter out) throws RdmaException {
        DeviceAttributes attributes = context.queryDevice();
        RdmaDevice device = context.device();
        if (onlyPort > attributes.physicalPortCount()) {
            throw new ParameterException(spec.commandLine(), device.name() + " has no port "
                    + onlyPort + "; its ports are from 1 to " + attributes.physicalPortCount());
        }
        out.printf("hca_id:\t%s%n", device.name());
        out.printf("\ttransport:\t\t\t%s (%d)%n", device.transport().text(),
                device.transport().code());
        out.printf("\tfw_ver:\t\t\t\t%s%n", attributes.firmwareVersion());
        out.printf("\tnode_guid:\t\t\t%s%n", guid(attributes.nodeGuid()));
        out.printf("\tsys_image_guid:\t\t\t%s%n", guid(attributes.systemImageGuid()));
        out.printf("\tvendor_id:\t\t\t0x%04x%n", attributes.vendorId());
        out.printf("\tvendor_part_id:\t\t\t%d%n", attributes.vendorPartId());
        out.printf("\thw_ver:\t\t\t\t0x%X%n", attributes.hardwareVersion());
        out.printf("\tphys_port_cnt:\t\t\t%d%n", attributes.physicalPortCount());
        if (isVerbose) {
            // Not in the original: what the device tells of itself, such as what carries its packets.
            context.details().forEach((name, text) -> out.printf("\t%s:%s%s%n", name,
                    "\t".repeat(Math.max(1, 4 - (name.length() + 1) / 8)), text));
            describeLimits(attributes, out);
            new ExtendedDescription(out, context.queryDevice()).print();
            line(out, "num_comp_vectors", attributes.completionVectors());
        }
        for (int port = 1; port <= attributes.physicalPortCount(); port++) {
            if (onlyPort == 0 || onlyPort == port) {
                describePort(context, port, out);
            }
        }
        out.println();
    }

    private static void describeLimits(DeviceAttributes attributes, PrintWriter out) {
        int bits = 0;
        for (DeviceCapability capability : attributes.capabilities()) {
            bits |= capability.bit();
        }
        for (DeviceLimit limit : DeviceLimit.values()) {
            switch (limit) {
                case MAX_MR_SIZE -> out.printf("\tmax_mr_size:\t\t\t0x%x%n",
                        attributes.limit(limit));
                case PAGE_SIZE_CAP -> out.printf("\tpage_size_cap:\t\t\t0x%x%n",
                        attributes.limit(limit));
                default -> line(out, limit.field(), attributes.limit(limit));
            }
            if (limit == DeviceLimit.MAX_QP_WR) {
                out.printf("\tdevice_cap_flags:\t\t0x%08x%n", bits);
                attributes.capabilities().stream().sorted()
                        .forEach(capability -> out.printf("\t\t\t\t\t%s%n", capability));
            }
            if (limit == DeviceLimit.MAX_EE_INIT_RD_ATOM) {
                AtomicCapability atomic = attributes.atomicCapability();
                out.printf("\tatomic_cap:\t\t\t%s (%d)%n", atomic.text(), atomic.code());
            }
        }
        line(out, "local_ca_ack_delay", attributes.localAckDelayExponent());
    }

    private static void line(PrintWriter out, String name, long value) {
        // Values stand in the fifth tab column, as in the original.
        int tabs = Math.max(1, 4 - (name.length() + 1) / 8);
        out.printf("\t%s:%s%d%n", name, "\t".repeat(tabs), value);
    }

    private void describePort(DeviceContext context, int number, PrintWriter out)
            throws RdmaException {
        PortAttributes port = context.queryPort(number);
        out.printf("\t\tport:\t%d%n", number);
        out.printf("\t\t\tstate:\t\t\t%s (%d)%n", port.state().text(), port.state().code());
        out.printf("\t\t\tmax_mtu:\t\t%d (%d)%n", port.maxMtu().bytes(), port.maxMtu().code());
        out.printf("\t\t\tactive_mtu:\t\t%d (%d)%n", port.activeMtu().bytes(),
                port.activeMtu().code());
        out.printf("\t\t\tsm_lid:\t\t\t%d%n", port.smLid());
        out.printf("\t\t\tport_lid:\t\t%d%n", port.lid());
        out.printf("\t\t\tport_lmc:\t\t0x%02x%n", port.lmc());
        out.printf("\t\t\tlink_layer:\t\t%s%n", port.linkLayer().text());
        if (!isVerbose) {
            return;
        }
        out.printf("\t\t\tmax_msg_sz:\t\t0x%x%n", port.maxMessageSize());
        out.printf("\t\t\tport_cap_flags:\t\t0x%08x%n", port.capabilityFlags());
        out.printf("\t\t\tport_cap_flags2:\t0x%04x%n", port.capabilityFlags2());
        out.printf("\t\t\tmax_vl_num:\t\t%d (%d)%n", port.maxVirtualLanes(),
                port.maxVirtualLanes());
        out.printf("\t\t\tbad_pkey_cntr:\t\t0x%x%n", port.badPkeyCounter());
        out.printf("\t\t\tqkey_viol_cntr:\t\t0x%x%n", port.qkeyViolationCounter());
        out.printf("\t\t\tsm_sl:\t\t\t%d%n", port.smServiceLevel());
        out.printf("\t\t\tpkey_tbl_len:\t\t%d%n", port.pkeyTableLength());
        out.printf("\t\t\tgid_tbl_len:\t\t%d%n", port.gidTableLength());
        out.printf("\t\t\tsubnet_timeout:\t\t%d%n", port.subnetTimeoutExponent());
        out.printf("\t\t\tinit_type_reply:\t%d%n", port.initTypeReply());
        out.printf("\t\t\tactive_width:\t\t1X (%d)%n", port.activeWidthCode());
        out.printf("\t\t\tactive_speed:\t\t2.5 Gbps (%d)%n", port.activeSpeedCode());
        out.printf("\t\t\tphys_state:\t\t%s (%d)%n", port.physicalState().text(),
                port.physicalState().code());
        for (GidEntry entry : context.queryGidTable()) {
            out.printf("\t\t\tGID[%3d]:\t\t%s, %s%n", entry.index(), entry.gid().addressText(),
                    entry.type().text());
        }
    }

    private static String guid(long guid) {
        return String.format(Locale.ROOT, "%04x:%04x:%04x:%04x", guid >>> 48 & 0xffff,
                guid >>> 32 & 0xffff, guid >>> 16 & 0xffff, guid & 0xffff);
    }
}
