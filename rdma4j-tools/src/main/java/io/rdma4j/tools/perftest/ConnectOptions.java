// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.perftest;

import io.rdma4j.tools.endpoint.LocalPort;
import io.rdma4j.tools.options.GidChoice;
import io.rdma4j.tools.options.Patience;
import io.rdma4j.tools.options.Refusal;
import io.rdma4j.tools.options.SideOptions;
import io.rdma4j.tools.options.WarmUpOption;
import io.rdma4j.tools.options.WholeNumber;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.Mtu;
import io.rdma4j.verbs.QueuePairType;
import io.rdma4j.verbs.RdmaException;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

import java.io.IOException;
import java.net.InetAddress;
import java.nio.file.Path;
import java.time.Duration;

/** The options of all the tools that say between whom is measured, and where reports go. */
final class ConnectOptions {
    /** The option by which users choose a GID. */
    static final String GID_OPTION = "-x";

    @Parameters(arity = "0..1", paramLabel = "HOST",
            description = "The server to measure with (default: be the server and wait).")
    private @Nullable String host;

    @Mixin
    private SideOptions side = new SideOptions();

    @Option(names = {GID_OPTION, "--gid-index"}, paramLabel = "INDEX",
            converter = WholeNumber.class,
            description = "Local GID, by its index (default: the address by which the sides reach"
                    + " each other).")
    private @Nullable Long gidIndex;

    @Option(names = {"-m", "--mtu"}, paramLabel = "BYTES", converter = WholeNumber.class,
            description = "Path MTU, 256 to 4096 (default: that of the port); the smaller of both"
                    + " sides holds.")
    private @Nullable Long mtuBytes;

    @Option(names = {"-F", "--CPU-freq"},
            description = "Accepted for scripts; there is no warning that it could silence.")
    @SuppressWarnings("unused")
    private boolean isFrequencyIgnored;

    @Option(names = "--out_json", description = "Write the report to a JSON file as well.")
    private boolean isJson;

    @Option(names = "--out_json_file", paramLabel = "FILE", defaultValue = "perftest_out.json",
            description = "That file (default: ${DEFAULT-VALUE}).")
    private Path jsonFile = Path.of("perftest_out.json");

    @Mixin
    private WarmUpOption warmUp = new WarmUpOption();

    @Mixin
    private Patience patience = new Patience();

    @Option(names = {"-R", "--rdma_cm"},
            description = "Have the connection manager connect the queue pairs, and the sides talk"
                    + " over such a connection instead of TCP; RC and UD.")
    private boolean isManaged;

    @Option(names = {"-z", "--com_rdma_cm", "--comm_rdma_cm"}, hidden = true)
    private boolean isTalkByConnectionManager;

    @Option(names = {"-M", "--MGID"}, hidden = true)
    private @Nullable String group;

    @Option(names = {"-g", "--mcg"}, hidden = true)
    private @Nullable String groupMembers;

    /** Refuses values that make no sense. */
    void check(CommandSpec spec) {
        side.check(spec, host == null);
        SideOptions.checkGidIndex(spec, GID_OPTION, gidIndex);
        Refusal.when(spec, mtuBytes != null && wantedMtu() == null,
                "-m must be 256, 512, 1024, 2048 or 4096");
        patience.check(spec);
        Refusal.when(spec, isTalkByConnectionManager,
                "-z (--com_rdma_cm) is not possible: the sides talk over TCP alone");
        Refusal.when(spec, group != null || groupMembers != null,
                "-M and -g (multicast) are not possible: a flood of datagrams that nobody"
                        + " acknowledges measures what is lost; mckey shows that groups work");
    }

    /** Refuses what the connection manager cannot connect. */
    void check(CommandSpec spec, Plan plan) {
        Refusal.when(spec, isManaged && plan.type() == QueuePairType.UC,
                "-R (--rdma_cm) is possible with -c RC and -c UD, not with " + plan.type());
    }

    /** {@return whether the connection manager connects queue pairs} */
    boolean isManaged() {
        return isManaged;
    }

    /** {@return the server's name; null makes this the server} */
    @Nullable
    String host() {
        return host;
    }

    /** {@return whether messages go before those that count} */
    boolean isWarmUpWanted() {
        return warmUp.isWanted();
    }

    int port() {
        return side.port();
    }

    Duration patience() {
        return patience.duration();
    }

    @Nullable
    Path jsonFile() {
        return isJson ? jsonFile : null;
    }

    /** {@return whether the user named the device} */
    boolean isDeviceChosen() {
        return side.isDeviceChosen();
    }

    /** {@return the device that the user named, opened; null if none was named} The caller closes it. */
    @Nullable
    DeviceContext openChosen() throws RdmaException {
        return side.openChosen();
    }

    /** {@return the device that the user named, or the one that has an address of this machine, opened} */
    DeviceContext open(InetAddress local) throws IOException {
        return side.open(local);
    }

    /** {@return whether the user said which GID this side has} */
    boolean isGidChosen() {
        return gidIndex != null;
    }

    /**
     * {@return where this side's queue pairs are connected from} The connection manager connects only from the address.
     *
     * @param local by which address of this machine the peer is reached
     */
    LocalPort localPort(DeviceContext context, Plan plan, InetAddress local) throws IOException {
        int number = side.devicePort(context, local);
        return localPort(context, plan, number,
                gidIndex == null || isManaged
                        ? GidChoice.index(context, number, local)
                        : GidChoice.index(context, number, gidIndex));
    }

    /** {@return where this side's queue pairs are connected from, as far as the user chose, by default from IPv4} */
    LocalPort localPort(DeviceContext context, Plan plan) throws IOException {
        return localPort(context, plan, side.devicePort(),
                GidChoice.index(context, side.devicePort(), gidIndex));
    }

    private static LocalPort localPort(DeviceContext context, Plan plan, int number, int index) {
        return new LocalPort(context, number, index, plan.serviceLevel(), GID_OPTION);
    }

    /** {@return the path MTU this side can and wants} */
    Mtu mtu(LocalPort port) throws IOException {
        Mtu active = port.context().queryPort(port.number()).activeMtu();
        Mtu wanted = wantedMtu();
        if (wanted != null && wanted.bytes() > active.bytes()) {
            throw new IOException("-m " + wanted.bytes() + ": the port's MTU is " + active.bytes());
        }
        return wanted == null ? active : wanted;
    }

    /** {@return whether the user said which path MTU this side wants} */
    boolean isMtuChosen() {
        return wantedMtu() != null;
    }

    private @Nullable Mtu wantedMtu() {
        Long bytes = mtuBytes;
        return bytes == null || bytes > Mtu.MTU_4096.bytes() ? null : Mtu.ofBytes(bytes.intValue());
    }
}
