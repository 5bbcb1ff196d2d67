package io.rdma4j.cm;

import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

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
        try (Stream<String> lines = Files.lines(SYSTEM_TABLE, StandardCharsets.ISO_8859_1)) {
            for (String line : (Iterable<String>) lines::iterator) {
                int port = port(line, service, protocol);
                if (port >= 0) {
                    return port;
                }
            }
        } catch (IOException | RuntimeException unreadable) {
            // Without a table there are numbers only.
        }
        throw new RdmaException(Errno.ENOENT, "resolve address information",
                "unknown service '" + service + "' for " + protocol + "; give a port number");
    }

    /** {@return the port if a line of the table names the service, or -1} */
    private static int port(String line, String service, String protocol) {
        List<String> words = new ArrayList<>(
                List.of(line.split("#", 2)[0].trim().split("\\s+", 0)));
        if (words.size() < 2 || !words.get(1).endsWith("/" + protocol)) {
            return -1;
        }
        String portAndProtocol = words.remove(1);
        return words.contains(service)
                ? Integer.parseInt(
                        portAndProtocol.substring(0, portAndProtocol.indexOf('/')))
                : -1;
    }
}
