// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets.rules;

import org.jspecify.annotations.Nullable;

/**
 * The parts of {@code ADDRESS[/BITS][:PORT]}. An IPv6 address has brackets if a port follows; without them each colon is one of
 * the address.
 */
record RulePlace(String address, @Nullable String bits, @Nullable String port) {
    static RulePlace parse(String text) {
        int end;
        String address;
        if (text.startsWith("[")) {
            end = text.indexOf(']') + 1;
            if (end == 0) {
                throw malformed(text);
            }
            address = text.substring(1, end - 1);
        } else {
            boolean isBareIpv6 = text.indexOf(':') != text.lastIndexOf(':');
            end = endOfAddress(text, isBareIpv6);
            address = text.substring(0, end);
        }
        String bits = null;
        if (text.startsWith("/", end)) {
            int colon = text.indexOf(':', end);
            int endOfBits = colon < 0 ? text.length() : colon;
            bits = text.substring(end + 1, endOfBits).strip();
            end = endOfBits;
        }
        String rest = text.substring(end).strip();
        if (!rest.isEmpty() && !rest.startsWith(":")) {
            throw malformed(text);
        }
        return new RulePlace(address.strip(), bits,
                rest.isEmpty() ? null : rest.substring(1).strip());
    }

    private static int endOfAddress(String text, boolean isBareIpv6) {
        for (int i = 0; i < text.length(); i++) {
            if (text.charAt(i) == '/' || (text.charAt(i) == ':' && !isBareIpv6)) {
                return i;
            }
        }
        return text.length();
    }

    private static IllegalArgumentException malformed(String text) {
        return new IllegalArgumentException(
                "'" + text + "' is not ADDRESS, ADDRESS/BITS, ADDRESS:PORT or *");
    }
}
