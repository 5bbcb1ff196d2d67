// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.ibverbs.provider;

import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * The IP addresses of a device: those of the network interfaces that the kernel names beside its GIDs, as for RoCE. Where it
 * names none, those of the interfaces whose hardware address the port has for a GID: of an Ethernet interface it is what the
 * first GID begins with, as for siw; of IP over InfiniBand its last 16 bytes are a GID (RFC 4391, section 9.1.1).
 *
 * <p>Source: {@code Documentation/ABI/stable/sysfs-class-infiniband} of Linux, {@code gid_attrs/ndevs} and {@code gids};
 * {@code Documentation/ABI/testing/sysfs-class-net}, {@code address}.
 */
final class DeviceAddresses {
    private static final int ENOUGH_UNUSED = 8;
    /** In hexadecimal digits. */
    private static final int GID_LENGTH = 32;
    private static final int ETHERNET_LENGTH = 12;
    private static final int INFINIBAND_LENGTH = 40;

    private final Path ports;
    private final Path interfaces;

    /**
     * @param device the folder in which the kernel describes the device
     * @param interfaces the folder of the network interfaces
     */
    DeviceAddresses(Path device, Path interfaces) {
        ports = device.resolve("ports");
        this.interfaces = interfaces;
    }

    /** {@return the present addresses, each with its port} */
    Map<InetAddress, Integer> byPort() {
        Map<InetAddress, Integer> addresses = new LinkedHashMap<>();
        for (Map.Entry<Integer, Path> port : ports().entrySet()) {
            for (NetworkInterface each : interfaces(port.getValue())) {
                each.inetAddresses()
                        .forEach(address -> addresses.putIfAbsent(address, port.getKey()));
            }
        }
        return addresses;
    }

    private Map<Integer, Path> ports() {
        Map<Integer, Path> numbered = new TreeMap<>();
        for (Path port : children(ports)) {
            numbered.put(Integer.parseInt(port.getFileName().toString()), port);
        }
        return numbered;
    }

    private List<NetworkInterface> interfaces(Path port) {
        Set<String> names = entries(port.resolve("gid_attrs").resolve("ndevs"));
        if (names.isEmpty()) {
            names = ofHardware(entries(port.resolve("gids")));
        }
        List<NetworkInterface> found = new ArrayList<>();
        for (String name : names) {
            try {
                NetworkInterface named = NetworkInterface.getByName(name);
                if (named != null) {
                    found.add(named);
                }
            } catch (SocketException _) {
                // Then it has no address.
            }
        }
        return found;
    }

    /**
     * {@return the distinct entries of a table} The kernel fills it from the front, and it may have a thousand entries, each
     * a file: after some unused entries the rest is not read, nor after the last of a short table.
     */
    private static Set<String> entries(Path table) {
        Set<String> entries = new LinkedHashSet<>();
        int unused = 0;
        for (int index = 0; unused < ENOUGH_UNUSED; index++) {
            String entry = text(table.resolve(String.valueOf(index)));
            if (entry == null) {
                break;
            }
            if (isUnused(entry)) {
                unused++;
            } else {
                unused = 0;
                entries.add(entry);
            }
        }
        return entries;
    }

    /**
     * {@return whether the text of a file is empty, because it could not be read, or only zeros, such as for an unused GID
     * or hardware address}
     */
    private static boolean isUnused(String entry) {
        return entry.chars().allMatch(each -> each == '0' || each == ':');
    }

    /** {@return the names of the interfaces with the hardware of a port} */
    private Set<String> ofHardware(Set<String> gids) {
        Set<String> names = new LinkedHashSet<>();
        List<String> digits = gids.stream().map(DeviceAddresses::digits).toList();
        for (Path each : children(interfaces)) {
            String address = text(each.resolve("address"));
            if (address != null && !isUnused(address) && isOneOf(digits, digits(address))) {
                names.add(each.getFileName().toString());
            }
        }
        return names;
    }

    private static boolean isOneOf(List<String> gids, String address) {
        return switch (address.length()) {
            case ETHERNET_LENGTH -> !gids.isEmpty() && gids.getFirst().startsWith(address);
            case INFINIBAND_LENGTH ->
                gids.contains(address.substring(INFINIBAND_LENGTH - GID_LENGTH));
            default -> false;
        };
    }

    private static String digits(String text) {
        return text.replace(":", "").toLowerCase(Locale.ROOT);
    }

    private static List<Path> children(Path folder) {
        List<Path> children = new ArrayList<>();
        try (DirectoryStream<Path> found = Files.newDirectoryStream(folder)) {
            found.forEach(children::add);
        } catch (IOException | DirectoryIteratorException _) {
            return List.of();
        }
        children.sort(null);
        return children;
    }

    /**
     * {@return the contents of a file of the kernel; empty if it cannot be read, such as for an unused entry; null if there
     * is no such file}
     */
    private static @Nullable String text(Path file) {
        try {
            return Files.readString(file).strip();
        } catch (NoSuchFileException _) {
            return null;
        } catch (IOException _) {
            return "";
        }
    }
}
