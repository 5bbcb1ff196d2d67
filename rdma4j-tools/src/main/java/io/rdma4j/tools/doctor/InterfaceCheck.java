// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.doctor;

import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/**
 * Which network interfaces are no device, and why: the software NIC has devices for those that are up and have an address.
 * Java lists no interface without an address, so Linux is asked for the others.
 */
final class InterfaceCheck {
    private static final int UP = 1;
    private static final int DUPLICATE = 0x08;
    private static final int TENTATIVE = 0x40;

    /** What is known of an interface. */
    record State(String name, boolean isUp, boolean hasAddress, boolean isLoopback) {}

    /** What Java knows of interfaces. */
    @FunctionalInterface
    interface Listed {
        /** {@return an interface; null if Java does not list it} */
        @Nullable
        State find(String name);
    }

    private final Listed listed;
    private final Path proc;
    private final Path sys;
    private final Checklist checklist;

    InterfaceCheck(Checklist checklist) {
        this(InterfaceCheck::listed, Path.of("/proc/net"), Path.of("/sys/class/net"), checklist);
    }

    /**
     * @param proc where the kernel describes the network of this process
     * @param sys where it describes interfaces, of this network or, in some containers, of another
     */
    InterfaceCheck(Listed listed, Path proc, Path sys, Checklist checklist) {
        this.listed = listed;
        this.proc = proc;
        this.sys = sys;
        this.checklist = checklist;
    }

    private static @Nullable State listed(String name) {
        try {
            NetworkInterface found = NetworkInterface.getByName(name);
            return found == null
                    ? null
                    : new State(name, found.isUp(), found.inetAddresses().findAny().isPresent(),
                            found.isLoopback());
        } catch (SocketException unknown) {
            // Then only Linux knows.
            return null;
        }
    }

    void run() {
        for (String name : names()) {
            State state = state(name);
            if (state.isUp && state.hasAddress) {
                continue;
            }
            if (state.isLoopback) {
                checklist.failed(name + " is down, so processes of this machine do not reach each"
                        + " other (ip link set " + name + " up)");
            } else {
                checklist.note(name + " " + problem(state));
            }
        }
        addressesOfIpv6().forEach(checklist::note);
    }

    /** {@return why an interface has no device; null if it has, or there is no such interface} */
    @Nullable
    String obstacle(String name) {
        State state = state(name);
        return names().contains(name) && !(state.isUp && state.hasAddress)
                ? name + " " + problem(state)
                : null;
    }

    private String problem(State state) {
        if (!state.hasAddress && state.isUp) {
            return "has no address, so it has no device (ip address add ADDRESS dev " + state.name
                    + ")";
        }
        if (isSetUp(state.name)) {
            return "has no carrier, so it has no device: look at the cable, or at the other end of"
                    + " a virtual one";
        }
        return "is down, so it has no device (ip link set " + state.name + " up)"
                + (state.hasAddress ? "" : ", and has no address");
    }

    private State state(String name) {
        State known = listed.find(name);
        if (known != null) {
            return known;
        }
        return new State(name, isSetUp(name) && hasCarrier(name), false, name.equals("lo"));
    }

    /** {@return the names of all interfaces, in their order} */
    private Set<String> names() {
        Set<String> names = new LinkedHashSet<>();
        for (String line : lines(proc.resolve("dev"))) {
            int colon = line.indexOf(':');
            if (colon > 0) {
                names.add(line.substring(0, colon).strip());
            }
        }
        return names;
    }

    /** {@return whether the files about interfaces are of this network} */
    private boolean isOfThisNetwork() {
        try (var entries = Files.list(sys)) {
            Set<String> known = new TreeSet<>(
                    entries.filter(Files::isDirectory).map(entry -> entry.getFileName().toString())
                            .toList());
            return known.equals(new TreeSet<>(names()));
        } catch (IOException | RuntimeException e) {
            return false;
        }
    }

    private boolean isSetUp(String name) {
        List<String> flags = isOfThisNetwork()
                ? lines(sys.resolve(name).resolve("flags"))
                : List.of();
        try {
            return !flags.isEmpty()
                    && (Integer.decode(flags.getFirst().strip()) & UP) != 0;
        } catch (NumberFormatException e) {
            return false;
        }
    }

    private boolean hasCarrier(String name) {
        return lines(sys.resolve(name).resolve("carrier")).equals(List.of("1"));
    }

    /** {@return what is wrong with addresses of IPv6} */
    private List<String> addressesOfIpv6() {
        List<String> problems = new ArrayList<>();
        for (String line : lines(proc.resolve("if_inet6"))) {
            String[] words = line.strip().split(" +", -1);
            if (words.length < 6) {
                continue;
            }
            int flags = Integer.parseInt(words[4], 16);
            String address = words[0].replaceAll("(.{4})(?!$)", "$1:") + " of " + words[5];
            if ((flags & DUPLICATE) != 0) {
                problems.add(address + " is a duplicate, which the system does not use: another"
                        + " host of the link has it (ip address del, and give one of them another)");
            } else if ((flags & TENTATIVE) != 0) {
                problems.add(address + " is still being tried out (tentative); it can be used in a"
                        + " second or two");
            }
        }
        return problems;
    }

    /** {@return the lines of a file; none if it cannot be read, as on other systems} */
    private static List<String> lines(Path file) {
        try {
            return Files.readAllLines(file);
        } catch (IOException | RuntimeException e) {
            return List.of();
        }
    }
}
