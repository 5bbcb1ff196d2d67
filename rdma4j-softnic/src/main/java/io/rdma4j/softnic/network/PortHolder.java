// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.network;

import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.net.InetAddress;
import java.nio.ByteOrder;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Finds the process that has a UDP port, as far as the system tells: Linux lists the sockets of all users, and the open
 * files of the user's own processes.
 *
 * <p>Source: proc(5), {@code /proc/net/udp} and {@code /proc/PID/fd}. On other systems no process is named.
 */
public final class PortHolder {
    private static final Path PROC = Path.of("/proc");
    private static final List<String> TABLES = List.of("net/udp", "net/udp6");
    private static final int LOCAL_ADDRESS = 1;
    private static final int USER = 7;
    private static final int INODE = 9;
    private static final int IPV6_LENGTH = 16;
    private static final byte[] MAPPED_PREFIX = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, -1, -1};

    private PortHolder() {}

    /**
     * {@return a text that names the process with a port of an address, or says that some process has it}
     *
     * @param ofProcesses a text to add, unless the kernel has the port
     */
    public static String of(InetAddress address, int port, String ofProcesses) {
        return of(PROC, address, port, ofProcesses);
    }

    /** @param proc the folder in which the system describes its processes */
    static String of(Path proc, InetAddress address, int port, String ofProcesses) {
        try {
            List<String[]> sockets = lines(proc, address, port)
                    .map(line -> line.trim().split("\\s+", -1)).toList();
            String holder = sockets.isEmpty() ? null : processWith(proc, sockets.stream()
                    .map(words -> "socket:[" + words[INODE] + "]").collect(Collectors.toSet()));
            if (holder != null) {
                return holder + ofProcesses;
            }
            if (sockets.isEmpty()) {
                return somebody() + ofProcesses;
            }
            if (sockets.stream().noneMatch(PortHolder::mayBeTheKernels)) {
                return "a process of user " + sockets.getFirst()[USER] + ofProcesses;
            }
            return hasRxe(proc)
                    ? "the kernel's RoCE driver rdma_rxe (use its devices, which rdma link lists, or"
                            + " unload it with modprobe -r rdma_rxe)"
                    : somebody() + ofProcesses;
        } catch (IOException | RuntimeException notToBeSeen) {
            return somebody() + ofProcesses;
        }
    }

    /** {@return how many sockets have a port of an address, 0 if that is unknown} */
    public static int count(InetAddress address, int port) {
        try {
            return (int) lines(PROC, address, port).count();
        } catch (IOException | RuntimeException notToBeSeen) {
            return 0;
        }
    }

    private static String somebody() {
        return "another process, or by the kernel's own RoCE driver";
    }

    /** {@return whether a socket is one of every address and of the superuser, as the kernel's RoCE driver has} */
    private static boolean mayBeTheKernels(String[] words) {
        String address = words[LOCAL_ADDRESS];
        return address.substring(0, address.indexOf(':')).chars().allMatch(digit -> digit == '0')
                && words[USER].equals("0");
    }

    private static boolean hasRxe(Path proc) throws IOException {
        Path modules = proc.resolve("modules");
        return Files.isReadable(modules) && Files.readAllLines(modules).stream()
                .anyMatch(line -> line.startsWith("rdma_rxe "));
    }

    /**
     * {@return the system's line for each socket that has a port of an address} A line is {@code 12: 0100007F:12B7 ...}.
     * There may be thousands, and programs read them at their start, so the lines are compared without parsing.
     */
    private static Stream<String> lines(Path proc, InetAddress address, int port)
            throws IOException {
        byte[] bytes = address.getAddress();
        List<String> wanted = Stream
                .of(bytes, mapped(bytes), new byte[bytes.length], new byte[IPV6_LENGTH])
                .map(each -> text(each, port)).toList();
        List<String> lines = new ArrayList<>();
        for (String table : TABLES) {
            Path file = proc.resolve(table);
            if (Files.isReadable(file)) {
                lines.addAll(Files.readAllLines(file));
            }
        }
        return lines.stream().filter(line -> {
            int start = line.indexOf(": ") + 2;
            return wanted.stream().anyMatch(each -> line.startsWith(each, start));
        });
    }

    /** {@return an IPv4 address in the form of an IPv6 socket; other addresses unchanged} Source: RFC 4291, 2.5.5.2. */
    private static byte[] mapped(byte[] address) {
        if (address.length == IPV6_LENGTH) {
            return address;
        }
        byte[] mapped = Arrays.copyOf(MAPPED_PREFIX, IPV6_LENGTH);
        System.arraycopy(address, 0, mapped, MAPPED_PREFIX.length, address.length);
        return mapped;
    }

    /** {@return an address and a port as the system writes them, such as {@code 0100007F:12B7}} */
    private static String text(byte[] address, int port) {
        byte[] bytes = address.clone();
        if (ByteOrder.nativeOrder() == ByteOrder.LITTLE_ENDIAN) {
            // Words of 32 bits in the order of this machine.
            for (int word = 0; word < bytes.length; word += Integer.BYTES) {
                swap(bytes, word, word + 3);
                swap(bytes, word + 1, word + 2);
            }
        }
        return HexFormat.of().withUpperCase().formatHex(bytes) + String.format(":%04X ", port);
    }

    private static void swap(byte[] bytes, int i, int j) {
        byte kept = bytes[i];
        bytes[i] = bytes[j];
        bytes[j] = kept;
    }

    private static @Nullable String processWith(Path proc, Set<String> sockets)
            throws IOException {
        try (DirectoryStream<Path> processes = Files.newDirectoryStream(proc, "[0-9]*")) {
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
            // A process of another user, or one that is just ending.
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
