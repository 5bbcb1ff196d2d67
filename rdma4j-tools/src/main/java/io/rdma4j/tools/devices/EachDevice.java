// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.devices;

import io.rdma4j.tools.output.OneLine;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.RdmaDevice;
import io.rdma4j.verbs.RdmaException;
import picocli.CommandLine.Model.CommandSpec;

import java.io.PrintWriter;
import java.util.List;

/** What is done with one device after the other; one that cannot be opened does not hinder the others. */
final class EachDevice {
    /** What is done. */
    @FunctionalInterface
    interface Look {
        void at(DeviceContext context) throws RdmaException;
    }

    private EachDevice() {}

    /** {@return the exit status} */
    static int look(CommandSpec spec, List<RdmaDevice> devices, Look look) {
        PrintWriter err = spec.commandLine().getErr();
        int status = 0;
        for (RdmaDevice device : devices) {
            try (DeviceContext context = device.open()) {
                look.at(context);
            } catch (RdmaException e) {
                err.printf("%s: %s: %s%n", spec.name(), device.name(), OneLine.of(e));
                status = 1;
            }
            spec.commandLine().getOut().flush();
        }
        return status;
    }
}
