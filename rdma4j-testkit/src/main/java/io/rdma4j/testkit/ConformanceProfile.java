// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.testkit;

import io.rdma4j.verbs.TransportType;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

/**
 * The kinds of devices, and which cases a device of each kind must pass. A case that is not required may be
 * refused, with {@link io.rdma4j.verbs.Errno#EOPNOTSUPP} or by an attribute; for a required case this is a
 * failure.
 *
 * <p>All requirements are in one table, the resource {@code cases.txt} of this package.
 */
public enum ConformanceProfile {
    /** RoCEv2 in software: everything that no hardware is needed for. */
    SOFTWARE_ROCE("software-roce", TransportType.INFINIBAND, ConnectionMethod.BY_HAND),
    /** iWARP in software: what RDMAP and DDP define, so reliable connections, neither datagrams nor atomics. */
    SOFTWARE_IWARP("software-iwarp", TransportType.IWARP, ConnectionMethod.CONNECTION_MANAGER),
    /** A channel adapter driven through its vendor's library: only what all of them support. */
    NATIVE("native", TransportType.INFINIBAND, ConnectionMethod.BY_HAND),
    /** The same of iWARP: what both every adapter and iWARP have. */
    NATIVE_IWARP("native-iwarp", TransportType.IWARP, ConnectionMethod.CONNECTION_MANAGER);

    private static final String TABLE = "cases.txt";
    /** The profiles that require a case, by its name. */
    private static final Map<String, Set<ConformanceProfile>> ROWS = read();

    private final String column;
    private final TransportType transport;
    private final ConnectionMethod connectionMethod;

    ConformanceProfile(String column, TransportType transport, ConnectionMethod connectionMethod) {
        this.column = column;
        this.transport = transport;
        this.connectionMethod = connectionMethod;
    }

    /** {@return its name in the table and the report} */
    public String text() {
        return column;
    }

    /** {@return the transport of every device of this kind} */
    public TransportType transport() {
        return transport;
    }

    /** {@return how queue pairs of such a device are connected, unless the device overrides it} */
    public ConnectionMethod connectionMethod() {
        return connectionMethod;
    }

    /** {@return whether every device of this kind must pass a case, named as {@link ConformanceEntry#test}} */
    public boolean requires(String test) {
        Set<ConformanceProfile> row = ROWS.get(test);
        if (row == null) {
            throw new IllegalStateException(TABLE + " has no line for " + test);
        }
        return row.contains(this);
    }

    /** {@return the cases that the table has a line for} */
    static List<String> cases() {
        return List.copyOf(ROWS.keySet());
    }

    private static Map<String, Set<ConformanceProfile>> read() {
        Map<String, Set<ConformanceProfile>> rows = new HashMap<>();
        try (InputStream in = ConformanceProfile.class.getResourceAsStream(TABLE);
                BufferedReader lines = new BufferedReader(new InputStreamReader(
                        Objects.requireNonNull(in, TABLE), StandardCharsets.UTF_8))) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                if (!line.isBlank() && !line.startsWith("#")) {
                    add(rows, line);
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return rows;
    }

    private static void add(Map<String, Set<ConformanceProfile>> rows, String line) {
        ConformanceProfile[] profiles = values();
        String[] words = line.strip().split(" +", -1);
        if (words.length != 1 + profiles.length) {
            throw new IllegalStateException(TABLE + " wants a case, and R or o for each of "
                    + List.of(profiles) + ", not: " + line);
        }
        Set<ConformanceProfile> requiring = EnumSet.noneOf(ConformanceProfile.class);
        for (int i = 0; i < profiles.length; i++) {
            switch (words[1 + i]) {
                case "R" -> requiring.add(profiles[i]);
                case "o" -> {}
                default -> throw new IllegalStateException(
                        TABLE + " has R for required and o for optional, not " + words[1 + i]);
            }
        }
        if (rows.put(words[0], requiring) != null) {
            throw new IllegalStateException(TABLE + " has two lines for " + line);
        }
    }
}
