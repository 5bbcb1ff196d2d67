// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.devices;

import io.rdma4j.verbs.RdmaDevice;
import io.rdma4j.verbs.RdmaDevices;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

import java.util.List;

/** Lists the devices, as the tool of that name in rdma-core. */
@Command(name = "ibv_devices", description = "List the RDMA devices of this machine.")
public final class IbvDevices implements Runnable {
    @Spec
    private CommandSpec spec = CommandSpec.create();

    @Override
    public void run() {
        var out = spec.commandLine().getOut();
        List<RdmaDevice> devices = RdmaDevices.list();
        out.printf("    %-16s\t   node GUID%n", "device");
        out.printf("    %-16s\t----------------%n", "------");
        for (RdmaDevice device : devices) {
            out.printf("    %-16s\t%016x%n", device.name(), device.nodeGuid());
        }
        out.flush();
    }
}
