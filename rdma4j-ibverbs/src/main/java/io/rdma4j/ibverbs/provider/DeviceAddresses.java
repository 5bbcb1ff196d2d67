package io.rdma4j.ibverbs.provider;

import java.io.IOException;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * The IP addresses of a device: those of the network interfaces that the kernel names beside its GIDs. Where it names none,
 * as for siw, that of the interface whose hardware address is the first GID.
 *
 * <p>Source: {@code Documentation/ABI/stable/sysfs-class-infiniband} of Linux, {@code gid_attrs/ndevs} and {@code gids}.
 */
final class DeviceAddresses {
    private static final int ENOUGH_UNUSED = 8;

    private final Path ports;

    /** @param devices the folder of the kernel's devices */
    DeviceAddresses(Path devices, String device) {
        ports = devices.resolve(device).resolve("ports");
    }

    /** {@return the addresses there are now, each with its port} */
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

    private static List<NetworkInterface> interfaces(Path port) {
        List<NetworkInterface> found = new ArrayList<>();
        try {
            for (String name : names(port.resolve("gid_attrs").resolve("ndevs"))) {
                NetworkInterface named = NetworkInterface.getByName(name);
                if (named != null) {
                    found.add(named);
                }
            }
            if (found.isEmpty()) {
                String first = text(port.resolve("gids").resolve("0")).replace(":", "");
                NetworkInterface.networkInterfaces()
                        .filter(each -> isHardwareAddress(each, first)).forEach(found::add);
            }
        } catch (SocketException _) {
            // Then it has no address.
        }
        return found;
    }

    /**
     * {@return the interfaces that a table names} The kernel fills it from its front, and it may have a thousand entries,
     * each a file: after some that are not in use the rest is not looked at.
     */
    private static Set<String> names(Path table) {
        Set<String> names = new LinkedHashSet<>();
        int unused = 0;
        for (int index = 0; unused < ENOUGH_UNUSED; index++) {
            String name = text(table.resolve(String.valueOf(index)));
            if (name.isEmpty()) {
                unused++;
            } else {
                unused = 0;
                names.add(name);
            }
        }
        return names;
    }

    private static boolean isHardwareAddress(NetworkInterface each, String digits) {
        try {
            byte[] address = each.getHardwareAddress();
            return address != null
                    && digits.startsWith(HexFormat.of().formatHex(address));
        } catch (SocketException _) {
            return false;
        }
    }

    private static List<Path> children(Path folder) {
        List<Path> children = new ArrayList<>();
        try (DirectoryStream<Path> found = Files.newDirectoryStream(folder)) {
            found.forEach(children::add);
        } catch (IOException _) {
            return List.of();
        }
        children.sort(null);
        return children;
    }

    /** {@return what a file of the kernel says, nothing if it cannot be read, as for an entry that is not in use} */
    private static String text(Path file) {
        try {
            return Files.readString(file).strip();
        } catch (IOException _) {
            return "";
        }
    }
}
