// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.doctor;

import io.rdma4j.tools.output.Terminal;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;

import static org.assertj.core.api.Assertions.assertThat;

/** What is said of interfaces that are no devices. */
class InterfaceCheckTest {
    @TempDir
    private Path directory = Path.of("");

    private final Map<String, InterfaceCheck.State> listed = new HashMap<>();
    private final StringBuilder names = new StringBuilder("Inter-|  Receive\n face |bytes\n");
    private final StringWriter said = new StringWriter();

    @BeforeEach
    void createDirectories() throws IOException {
        Files.createDirectories(directory.resolve("proc"));
        Files.createDirectories(directory.resolve("sys"));
    }

    /** An interface of Linux, as Java lists it; not at all if it has no address. */
    private void add(String name, InterfaceCheck.@Nullable State state, int flags)
            throws IOException {
        names.append("  ").append(name).append(": 0 0\n");
        if (state != null) {
            listed.put(name, state);
        }
        Path sys = Files.createDirectories(directory.resolve("sys").resolve(name));
        Files.writeString(sys.resolve("flags"), "0x" + Integer.toHexString(flags) + "\n");
        Files.writeString(sys.resolve("carrier"), (flags & 0x40) == 0 ? "0\n" : "1\n");
    }

    private InterfaceCheck check() throws IOException {
        Files.writeString(directory.resolve("proc/dev"), names);
        return new InterfaceCheck(listed::get, directory.resolve("proc"),
                directory.resolve("sys"),
                new Checklist(new PrintWriter(said, true), Terminal.ENDLESS));
    }

    private static InterfaceCheck.State state(String name, boolean isUp) {
        return new InterfaceCheck.State(name, isUp, true, name.equals("lo"));
    }

    @Test
    void nothingIsSaidOfInterfacesThatAreUpAndHaveAnAddress() throws IOException {
        add("lo", state("lo", true), 0x49);
        add("eth0", state("eth0", true), 0x1043);
        InterfaceCheck check = check();
        check.run();
        assertThat(said.toString()).isEmpty();
        assertThat(check.obstacle("eth0")).isNull();
        assertThat(check.obstacle("eth7")).isNull();
    }

    @Test
    void loopbackThatIsDownIsAFailure() throws IOException {
        add("lo", null, 0x8);
        check().run();
        assertThat(said.toString()).isEqualTo("    failed  lo is down, so processes of this"
                + " machine do not reach each other (ip link set lo up)\n");
    }

    @Test
    void otherInterfacesAreNotes() throws IOException {
        add("down", state("down", false), 0x1002);
        add("unplugged", state("unplugged", false), 0x1003);
        add("bare", null, 0x1043);
        add("new", null, 0x1002);
        InterfaceCheck check = check();
        check.run();
        assertThat(said.toString().lines()).containsExactly(
                "    note    down is down, so it has no device (ip link set down up)",
                "    note    unplugged has no carrier, so it has no device: look at the cable, or at"
                        + " the other end of a virtual one",
                "    note    bare has no address, so it has no device (ip address add ADDRESS dev"
                        + " bare)",
                "    note    new is down, so it has no device (ip link set new up), and has no"
                        + " address");
        assertThat(check.obstacle("down")).startsWith("down is down");
    }

    /** In some containers the files about interfaces are those of another network: then they tell nothing. */
    @Test
    void filesOfAnotherNetworkAreNotBelieved() throws IOException {
        add("eth0", null, 0x1043);
        Files.createDirectories(directory.resolve("sys/eth9"));
        check().run();
        assertThat(said.toString()).contains("eth0 is down").contains("has no address");
    }

    @Test
    void addressesOfIpv6ThatCannotBeUsedAreNotes() throws IOException {
        Files.writeString(directory.resolve("proc/if_inet6"), """
                fe800000000000000000000000000001 02 40 20 80     eth0
                fd880000000000000000000000000001 02 40 00 88     eth0
                fd880000000000000000000000000002 02 40 00 40     eth0
                """);
        check().run();
        assertThat(said.toString().lines()).hasSize(2).first().asString()
                .startsWith("    note    fd88:0000:0000:0000:0000:0000:0000:0001 of eth0 is a"
                        + " duplicate");
        assertThat(said.toString()).contains("0002 of eth0 is still being tried out");
    }
}
