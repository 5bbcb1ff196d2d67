// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets.rules;

import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Rules in an order: the first that matches decides. They leave no address out, so that nothing goes over TCP because somebody forgot it. Datagrams are UDP's unless a rule
 * is for them: name services and discovery have peers that know nothing of RDMA.
 * Immutable.
 *
 * <p>As text they are separated by commas or ends of lines; {@code #} begins a comment. {@code @FILE} stands for the text of a file.
 */
public final class SocketRules {
    /** What no rules at all stand for: whoever asks for RDMA learns where there is none. */
    public static final SocketRules RDMA = parse("rdma");

    /** Everything over TCP. */
    public static final SocketRules TCP = parse("tcp");

    private final List<Rule> rules;

    private SocketRules(List<Rule> rules) {
        this.rules = List.copyOf(rules);
    }

    /**
     * {@return the rules of a text; {@link #RDMA} if it is empty}
     *
     * @throws IllegalArgumentException naming in one line the rule, what is wrong and what would be right
     */
    public static SocketRules parse(String text) {
        String stripped = text.strip();
        if (stripped.startsWith("@")) {
            return parseFile(stripped.substring(1).strip());
        }
        return stripped.isEmpty() ? RDMA : parse(stripped, "");
    }

    private static SocketRules parseFile(String name) {
        try {
            return parse(Files.readString(Path.of(name)), name + ", line ");
        } catch (NoSuchFileException e) {
            throw new IllegalArgumentException("rules: there is no file " + name, e);
        } catch (IOException | UncheckedIOException e) {
            throw new IllegalArgumentException("rules: " + name + " cannot be read: " + e, e);
        }
    }

    /** @param place what is said before the number of a line; empty if the text has no lines that a person counts */
    private static SocketRules parse(String text, String place) {
        List<Rule> rules = new ArrayList<>();
        int line = 0;
        for (String each : text.split("\\R", -1)) {
            line++;
            String content = each.replaceFirst("#.*", "");
            for (String rule : content.split(",", -1)) {
                String stripped = rule.strip();
                if (stripped.isEmpty()) {
                    continue;
                }
                String at = place.isEmpty() ? "" : place + line + ", ";
                rules.add(parseRule(stripped, at, rules));
            }
        }
        requireComplete(rules, place.replaceFirst(", line $", ": "));
        return new SocketRules(rules);
    }

    private static Rule parseRule(String text, String at, List<Rule> before) {
        Rule rule;
        try {
            rule = Rule.parse(text);
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(at + "rule '" + text + "': " + e.getMessage(), e);
        }
        boolean isReached = Arrays.stream(Side.values()).filter(rule::isFor)
                .anyMatch(side -> before.stream().noneMatch(each -> each.endsRules(side)));
        if (!isReached) {
            throw new IllegalArgumentException(at + "rule '" + text + "' is never reached: the"
                    + " first that matches decides, and one before it matches everything");
        }
        return rule;
    }

    private static void requireComplete(List<Rule> rules, String place) {
        for (Side side : List.of(Side.CONNECT, Side.LISTEN)) {
            if (rules.stream().noneMatch(each -> each.endsRules(side))) {
                throw new IllegalArgumentException(place + "no rule says what other addresses to "
                        + side + (side == Side.CONNECT ? " to" : " at")
                        + " go over: end with *=tcp, *=rdma or *=auto");
            }
        }
    }

    /**
     * {@return the rule that decides of connections}
     *
     * @param side not {@link Side#DATAGRAMS}
     */
    public Rule decide(Side side, InetSocketAddress address) {
        Rule first = first(side, address);
        if (first == null) {
            throw new IllegalStateException("rules that leave nothing out");
        }
        return first;
    }

    /** {@return the rule that decides of datagrams; null if there is none, and they go over UDP} */
    public @Nullable Rule decideOfDatagrams(InetSocketAddress address) {
        return first(Side.DATAGRAMS, address);
    }

    private @Nullable Rule first(Side side, InetSocketAddress address) {
        for (Rule each : rules) {
            if (each.matches(side, address)) {
                return each;
            }
        }
        return null;
    }

    /** {@return whether any datagrams go over RDMA} */
    public boolean hasDatagrams() {
        return rules.stream().anyMatch(each -> each.isFor(Side.DATAGRAMS)
                && each.way() == Way.RDMA);
    }

    /** {@return what all rules of a side say, null if they differ} */
    public @Nullable Way only(Side side) {
        List<Way> ways = rules.stream().filter(each -> each.isFor(side)).map(Rule::way).distinct()
                .toList();
        return ways.size() == 1 ? ways.getFirst() : null;
    }

    /** {@return whether all connections go over TCP} */
    public boolean isTcpAlone() {
        return only(Side.CONNECT) == Way.TCP && only(Side.LISTEN) == Way.TCP;
    }

    /** {@return the rules on one line, as {@link #parse} takes them} */
    @Override
    public String toString() {
        return String.join(",", rules.stream().map(Rule::toString).toList());
    }
}
