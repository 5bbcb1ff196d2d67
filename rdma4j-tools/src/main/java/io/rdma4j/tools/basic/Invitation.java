// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.basic;

import io.rdma4j.verbs.Gid;

import java.net.Inet4Address;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Collectors;

/** Where clients find a listener: commands that can be pasted, and the other addresses. */
final class Invitation {
    private Invitation() {}

    /**
     * {@return lines for people: a command for clients on this machine, one for those on others, and what other addresses there are}
     *
     * @param listening where it listens, each address once
     */
    static List<String> lines(List<InetSocketAddress> listening) {
        List<InetSocketAddress> best = listening.stream()
                .sorted(Comparator.comparingInt(each -> rank(each.getAddress()))).toList();
        if (best.isEmpty()) {
            return List.of("no device has an address yet");
        }
        List<InetSocketAddress> others = new ArrayList<>(best);
        List<String> lines = new ArrayList<>();
        InetSocketAddress first = best.getFirst();
        others.remove(first);
        InetSocketAddress far = others.stream()
                .filter(each -> !each.getAddress().isLoopbackAddress()).findFirst().orElse(null);
        if (first.getAddress().isLoopbackAddress()) {
            lines.add("clients on this machine: " + command(first));
            if (far != null) {
                others.remove(far);
                lines.add("clients on others: " + command(far));
            }
        } else {
            lines.add("clients reach it with: " + command(first));
        }
        if (!others.isEmpty()) {
            lines.add("and at " + others.stream().map(each -> text(each.getAddress()))
                    .collect(Collectors.joining(", ")));
        }
        return lines;
    }

    private static String command(InetSocketAddress address) {
        return "rdma4j client " + text(address.getAddress()) + " " + address.getPort();
    }

    /** Loopback first, as the first try is on one machine; short ones before long ones; those that need an interface last. */
    private static int rank(InetAddress address) {
        int scope = address.isLoopbackAddress() ? 0 : address.isLinkLocalAddress() ? 4 : 2;
        return scope + (address instanceof Inet4Address ? 0 : 1);
    }

    /** {@return an address as one types it, a link-local one with its interface} */
    private static String text(InetAddress address) {
        if (address instanceof Inet4Address) {
            return address.getHostAddress();
        }
        String text = Gid.of(address).addressText();
        if (address instanceof Inet6Address ofLink && ofLink.isLinkLocalAddress()) {
            NetworkInterface scope = ofLink.getScopedInterface();
            return scope != null ? text + "%" + scope.getName()
                    : ofLink.getScopeId() != 0 ? text + "%" + ofLink.getScopeId() : text;
        }
        return text;
    }
}
