// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.options;

import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;

import java.io.IOException;
import java.net.InetAddress;
import java.util.Locale;

/** What the addresses of a program of librdmacm are: names, or numbers alone. */
public final class AddressFormat {
    @Option(names = "-f", paramLabel = "FORMAT", defaultValue = "name",
            description = "What addresses are: name, ip or ipv6 (default: ${DEFAULT-VALUE}).")
    private String format = "name";

    /** Refuses a format that there is not. */
    public void check(CommandSpec spec) {
        Refusal.when(spec, starts(format, "gid"), "-f gid is not possible: RoCE finds its peers by"
                + " IP addresses; name, ip and ipv6 work");
        Refusal.when(spec, !isNumeric() && !starts(format, "name"),
                "-f must be name, ip or ipv6, not '" + format + "'");
    }

    /** {@return whether no names are looked up} */
    public boolean isNumeric() {
        return starts(format, "ip");
    }

    /** {@return the address that is meant} */
    public InetAddress resolve(String host) throws IOException {
        if (!isNumeric()) {
            return Hosts.resolve(host);
        }
        try {
            return InetAddress.ofLiteral(host);
        } catch (IllegalArgumentException e) {
            throw new IOException("-f " + format + ": '" + host + "' is no address in numbers", e);
        }
    }

    /** {@return whether an option's value is a word} Compares as the C programs: ignoring case and trailing text. */
    public static boolean starts(String value, String word) {
        return value.toLowerCase(Locale.ROOT).startsWith(word);
    }
}
