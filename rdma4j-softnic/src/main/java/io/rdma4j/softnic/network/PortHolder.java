package io.rdma4j.softnic.network;

import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.ByteOrder;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;

/**
 * Who has a UDP port, as far as the system tells: Linux names the sockets of everybody and the files of
 * one's own processes.
 *
 * <p>Source: proc(5), {@code /proc/net/udp} and {@code /proc/PID/fd}. Elsewhere nobody is named.
 */
public final class PortHolder {
    private static final int LOCAL_ADDRESS = 1;
    private static final int INODE = 9;

    private PortHolder() {}

    /** {@return words for the process that has a port of an address, or for somebody if it is not known} */
    public static String of(InetAddress address, int port) {
        try {
            Set<String> sockets = new HashSet<>();
            addSockets(Path.of("/proc/net/udp"), address, port, sockets);
            addSockets(Path.of("/proc/net/udp6"), address, port, sockets);
            String holder = sockets.isEmpty() ? null : processWith(sockets);
            return holder == null ? somebody() : holder;
        } catch (IOException | RuntimeException notToBeSeen) {
            return somebody();
        }
    }

    /** {@return how many sockets have a port of an address, 0 if the system does not tell} */
    public static int count(InetAddress address, int port) {
        try {
            Set<String> sockets = new HashSet<>();
            addSockets(Path.of("/proc/net/udp"), address, port, sockets);
            addSockets(Path.of("/proc/net/udp6"), address, port, sockets);
            return sockets.size();
        } catch (IOException | RuntimeException notToBeSeen) {
            return 0;
        }
    }

    private static String somebody() {
        return "another process, or by the kernel's own RoCE driver";
    }

    private static void addSockets(Path table, InetAddress address, int port, Set<String> sockets)
            throws IOException {
        if (!Files.isReadable(table)) {
            return;
        }
        List<String> lines = Files.readAllLines(table);
        for (String line : lines.subList(Math.min(1, lines.size()), lines.size())) {
            String[] fields = line.trim().split("\\s+", -1);
            if (fields.length > INODE && isAt(fields[LOCAL_ADDRESS], address, port)) {
                sockets.add("socket:[" + fields[INODE] + "]");
            }
        }
    }

    /** Whether a socket's address, such as {@code 0100007F:12B7}, takes a port of an address. */
    private static boolean isAt(String text, InetAddress address, int port)
            throws UnknownHostException {
        int colon = text.indexOf(':');
        if (colon < 0 || Integer.parseInt(text, colon + 1, text.length(), 16) != port) {
            return false;
        }
        byte[] bytes = HexFormat.of().parseHex(text, 0, colon);
        if (ByteOrder.nativeOrder() == ByteOrder.LITTLE_ENDIAN) {
            // Words of 32 bits in the order of this machine.
            for (int word = 0; word < bytes.length; word += Integer.BYTES) {
                swap(bytes, word, word + 3);
                swap(bytes, word + 1, word + 2);
            }
        }
        InetAddress bound = InetAddress.getByAddress(bytes);
        return bound.isAnyLocalAddress() || Arrays.equals(bound.getAddress(), address.getAddress());
    }

    private static void swap(byte[] bytes, int i, int j) {
        byte kept = bytes[i];
        bytes[i] = bytes[j];
        bytes[j] = kept;
    }

    private static @Nullable String processWith(Set<String> sockets) throws IOException {
        try (DirectoryStream<Path> processes = Files.newDirectoryStream(Path.of("/proc"),
                "[0-9]*")) {
            for (Path process : processes) {
                if (hasOne(process.resolve("fd"), sockets)) {
                    return describe(process);
                }
            }
            return null;
        }
    }

    private static boolean hasOne(Path files, Set<String> sockets) {
        try (DirectoryStream<Path> each = Files.newDirectoryStream(files)) {
            for (Path file : each) {
                if (sockets.contains(target(file))) {
                    return true;
                }
            }
            return false;
        } catch (IOException | DirectoryIteratorException notOurs) {
            // Somebody else's process, or one that ends this moment.
            return false;
        }
    }

    private static String target(Path file) {
        try {
            return Files.readSymbolicLink(file).toString();
        } catch (IOException closed) {
            return "";
        }
    }

    private static String describe(Path process) {
        String id = process.getFileName().toString();
        if (id.equals(Long.toString(ProcessHandle.current().pid()))) {
            return "this process, which has a socket of its own there";
        }
        try {
            return "process " + id + " (" + Files.readString(process.resolve("comm")).strip() + ")";
        } catch (IOException ended) {
            return "process " + id;
        }
    }
}
