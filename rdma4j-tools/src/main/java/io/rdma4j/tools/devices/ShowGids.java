// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.devices;

import io.rdma4j.tools.options.DeviceName;
import io.rdma4j.verbs.GidEntry;
import io.rdma4j.verbs.RdmaDevice;
import io.rdma4j.verbs.RdmaException;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

import java.io.PrintWriter;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicInteger;

/** Lists the GID tables, as the script of that name that vendors ship. */
@Command(name = "show_gids", description = "List the GIDs of the RDMA devices of this machine.")
public final class ShowGids implements Callable<Integer> {
    @Parameters(arity = "0..1", paramLabel = "DEV",
            description = "Show this device only (default: all).")
    private @Nullable String deviceName;

    @Spec
    private CommandSpec spec = CommandSpec.create();

    @Override
    public Integer call() throws RdmaException {
        PrintWriter out = spec.commandLine().getOut();
        List<RdmaDevice> devices = DeviceName.devices(deviceName);
        out.println("DEV\tPORT\tINDEX\tGID\t\t\t\t\tIPv4  \t\tVER\tDEV");
        out.println("---\t----\t-----\t---\t\t\t\t\t------------  \t---\t---");
        AtomicInteger found = new AtomicInteger();
        int status = EachDevice.look(spec, devices, context -> {
            List<GidEntry> table = context.queryGidTable();
            table.forEach(entry -> out.println(line(context.device(), entry)));
            found.addAndGet(table.size());
        });
        out.println("n_gids_found=" + found);
        out.flush();
        return status;
    }

    private static String line(RdmaDevice device, GidEntry entry) {
        String ipv4 = entry.gid().isIpv4()
                ? entry.gid().address().getHostAddress() + "  \t"
                : "\t\t";
        String version = entry.type().text().replaceAll("^[^vV]*", "");
        return String.join("\t", device.name(), Integer.toString(entry.port()),
                Integer.toString(entry.index()), entry.gid().toString(),
                ipv4 + version, interfaceName(entry.interfaceIndex()));
    }

    private static String interfaceName(int index) {
        try {
            NetworkInterface below = index == 0 ? null : NetworkInterface.getByIndex(index);
            return below == null ? "" : below.getName();
        } catch (SocketException gone) {
            return "";
        }
    }
}
