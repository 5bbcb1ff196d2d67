// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.cm;

import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Ports by number or by name, as the system's table of services lists them. */
final class ServiceNames {
    private static final Path SYSTEM_TABLE = Path.of("/etc/services");

    private ServiceNames() {}

    /**
     * {@return the port of a service}
     *
     * @param protocol {@code tcp} or {@code udp}
     */
    static int port(String service, String protocol) throws RdmaException {
        if (!service.isEmpty() && service.chars().allMatch(c -> c >= '0' && c <= '9')) {
            int port = service.length() > 5 ? Integer.MAX_VALUE : Integer.parseInt(service);
            if (port > 0xffff) {
                throw new RdmaException(Errno.EINVAL, "resolve address information",
                        "a port is at most 65535, not " + service);
            }
            return port;
        }
        int port = find(table(), service, protocol);
        if (port < 0) {
            throw new RdmaException(Errno.ENOENT, "resolve address information",
                    "unknown service '" + service + "' for " + protocol + "; give a port number");
        }
        return port;
    }

    /** {@return the lines of the table; without one there are numbers only} */
    private static List<String> table() {
        try {
            return Files.readAllLines(SYSTEM_TABLE, StandardCharsets.ISO_8859_1);
        } catch (IOException unreadable) {
            return List.of();
        }
    }

    /** {@return the port of the first line that names the service, or -1} */
    static int find(List<String> table, String service, String protocol) {
        Pattern port = Pattern.compile("(\\d{1,5})/" + Pattern.quote(protocol));
        for (String line : table) {
            List<String> words = new ArrayList<>(
                    List.of(line.split("#", 2)[0].trim().split("\\s+", 0)));
            if (words.size() >= 2) {
                Matcher matcher = port.matcher(words.remove(1));
                if (matcher.matches() && words.contains(service)) {
                    return Integer.parseInt(matcher.group(1));
                }
            }
        }
        return -1;
    }
}
