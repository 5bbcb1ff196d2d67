// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.doctor;

import io.rdma4j.tools.output.OneLine;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.GidEntry;
import io.rdma4j.verbs.LinkLayer;
import io.rdma4j.verbs.PortAttributes;
import io.rdma4j.verbs.PortState;
import io.rdma4j.verbs.RdmaDevice;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.TransportType;

import java.net.InetAddress;
import java.util.List;
import java.util.Locale;

/** The checks of one device. What fails does not hinder those of the others. */
final class DeviceCheck {
    /** Room for the largest headers of a packet, rounded up as network people do. */
    private static final int HEADERS = 104;

    private final RdmaDevice device;
    private final Checklist checklist;

    DeviceCheck(RdmaDevice device, Checklist checklist) {
        this.device = device;
        this.checklist = checklist;
    }

    void run() {
        checklist.heading(device.name() + " (" + device.kind().name().toLowerCase(Locale.ROOT)
                + ", " + device.transport().text() + ")");
        try (DeviceContext context = device.open()) {
            context.details().forEach((name, text) -> checklist.ok(name + ": " + text));
            boolean isActive = false;
            for (int port = 1; port <= context.queryDevice().physicalPortCount(); port++) {
                isActive |= checkPort(port, context.queryPort(port));
            }
            List<GidEntry> table = context.queryGidTable();
            checkGids(table);
            if (isActive) {
                transfer(table);
            }
        } catch (RdmaException e) {
            checklist.failed(OneLine.of(e));
        }
    }

    /** {@return whether it can be used} */
    private boolean checkPort(int number, PortAttributes port) {
        String name = "port " + number + ": " + port.state().text();
        if (port.state() != PortState.ACTIVE) {
            checklist.note(name + ": "
                    + (port.linkLayer() == LinkLayer.INFINIBAND
                            ? "look at the cable and whether a subnet manager runs (opensm)"
                            : "look at the cable, and bring its network interface up"
                                    + " (ip link set INTERFACE up)"));
            return false;
        }
        checklist.ok(name + ", path MTU " + port.activeMtu().bytes() + mtuHint(port));
        return true;
    }

    /** {@return what would make packets larger} Only on Ethernet does the interface decide; a stream has no packets. */
    private String mtuHint(PortAttributes port) {
        boolean isDecidedByInterface = port.linkLayer() == LinkLayer.ETHERNET
                && device.transport() != TransportType.IWARP;
        return isDecidedByInterface && port.activeMtu().bytes() < port.maxMtu().bytes()
                ? "; " + port.maxMtu().bytes() + " takes an interface MTU of "
                        + (port.maxMtu().bytes() + HEADERS) + " on both sides and on the way"
                : "";
    }

    private void checkGids(List<GidEntry> table) {
        if (table.isEmpty()) {
            checklist.note("no GID: give its network interface an address"
                    + " (ip address add ADDRESS dev INTERFACE)");
        }
        for (GidEntry entry : table) {
            checklist.ok("GID " + entry.index() + " of port " + entry.port() + ": "
                    + entry.gid().addressText() + ", " + entry.type().text());
        }
    }

    private void transfer(List<GidEntry> table) {
        try {
            InetAddress carriedBy = new LoopbackTransfer(device.name()).run(table);
            if (carriedBy == null) {
                checklist.note("no message was sent: the device has no connection manager, or no"
                        + " address of this machine; try ibv_rc_pingpong -d " + device.name());
            } else {
                checklist.ok("a message of " + TransferEnd.LENGTH + " bytes to itself at "
                        + carriedBy.getHostAddress() + " arrived");
            }
        } catch (RdmaException e) {
            checklist.failed("a message to itself did not arrive: " + OneLine.of(e));
        }
    }
}
