// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets.rules;

import org.jspecify.annotations.Nullable;

import java.net.InetSocketAddress;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What some connections go over. As text: {@code [connect:|listen:]ADDRESS[/BITS][:PORT[-PORT]]=rdma|tcp|auto}. {@code *} is every
 * address or port, and {@code rdma} alone is {@code *=rdma}. Of datagrams: {@code datagrams:ADDRESS[/BITS][:PORT[-PORT]]=rdma|udp}. Immutable.
 */
public final class Rule {
    private static final Pattern SIDE = Pattern.compile("(connect|listen|datagrams)\\s*:\\s*(.*)");
    private final String text;
    private final @Nullable Side side;
    private final AddressRange addresses;
    private final PortRange ports;
    private final Way way;

    private Rule(String text, @Nullable Side side, AddressRange addresses, PortRange ports,
            Way way) {
        this.text = text;
        this.side = side;
        this.addresses = addresses;
        this.ports = ports;
        this.way = way;
    }

    /**
     * {@return the rule}
     *
     * @throws IllegalArgumentException saying in one line what is wrong, without the rule
     */
    static Rule parse(String text) {
        Matcher sided = SIDE.matcher(text);
        Side side = null;
        String rest = text;
        if (sided.matches()) {
            side = Side.valueOf(sided.group(1).toUpperCase(Locale.ROOT));
            rest = sided.group(2);
        }
        int equals = rest.lastIndexOf('=');
        if (equals < 0) {
            requireWay(rest, side);
            return new Rule(text, side, AddressRange.ALL, PortRange.ALL, way(rest, side));
        }
        Way way = way(rest.substring(equals + 1).strip(), side);
        RulePlace place = RulePlace.parse(rest.substring(0, equals).strip());
        return new Rule(text, side, AddressRange.parse(place.address(), place.bits()),
                PortRange.parse(place.port()), way);
    }

    private static Way way(String text, @Nullable Side side) {
        return side == Side.DATAGRAMS ? Way.parseOfDatagrams(text) : Way.parse(text);
    }

    private static void requireWay(String text, @Nullable Side side) {
        if (text.contains(".") || text.contains(":") || text.contains("*")) {
            throw new IllegalArgumentException("it does not say what the address goes over: add"
                    + (side == Side.DATAGRAMS ? " =rdma or =udp" : " =rdma, =tcp or =auto"));
        }
    }

    /** {@return what the connections go over} */
    public Way way() {
        return way;
    }

    boolean isFor(Side asked) {
        return side == null ? asked != Side.DATAGRAMS : side == asked;
    }

    boolean matches(Side asked, InetSocketAddress address) {
        return isFor(asked) && ports.contains(address.getPort())
                && addresses.contains(address.getAddress());
    }

    /** {@return whether no address and no port of a side is left for the rules behind it} */
    boolean endsRules(Side asked) {
        return isFor(asked) && addresses.equals(AddressRange.ALL) && ports.equals(PortRange.ALL);
    }

    /** {@return the rule as it was written} */
    @Override
    public String toString() {
        return text;
    }
}
