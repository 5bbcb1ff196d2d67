// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets.rules;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** Text of rules, what they decide, and what is said of mistakes. */
class SocketRulesTest {
    private static String decide(String rules, Side side, String address, int port) {
        Rule rule = SocketRules.parse(rules).decide(side,
                new InetSocketAddress(InetAddress.ofLiteral(address), port));
        return rule + " " + rule.way();
    }

    @ParameterizedTest
    @CsvSource(delimiter = ';', value = {
        // The first that matches.
        "10.0.0.0/8=rdma,*=tcp; connect; 10.1.2.3; 80; 10.0.0.0/8=rdma rdma",
        "10.0.0.0/8=rdma,*=tcp; connect; 11.1.2.3; 80; *=tcp tcp",
        "10.0.0.0/8=tcp,10.1.0.0/16=rdma,*=auto; connect; 10.1.2.3; 80; 10.0.0.0/8=tcp tcp",
        // Prefixes that end within a byte, and the longest.
        "10.1.16.0/20=rdma,*=tcp; connect; 10.1.31.255; 80; 10.1.16.0/20=rdma rdma",
        "10.1.16.0/20=rdma,*=tcp; connect; 10.1.32.0; 80; *=tcp tcp",
        "10.1.2.3=rdma,*=tcp; connect; 10.1.2.4; 80; *=tcp tcp",
        "0.0.0.0/0=rdma,*=tcp; connect; 255.1.2.4; 80; 0.0.0.0/0=rdma rdma",
        "0.0.0.0/0=rdma,*=tcp; connect; ::1; 80; *=tcp tcp",
        // IPv6.
        "[fd00::]/8=rdma,*=tcp; connect; fd12::7; 80; [fd00::]/8=rdma rdma",
        "fd00::/8=rdma,*=tcp; connect; fd12::7; 80; fd00::/8=rdma rdma",
        "fd00::/8=rdma,*=tcp; connect; 253.0.0.1; 80; *=tcp tcp",
        "[::1]:90=rdma,*=tcp; connect; ::1; 90; [::1]:90=rdma rdma",
        "[::1]:90=rdma,*=tcp; connect; ::1; 91; *=tcp tcp",
        "::1=auto,*=tcp; connect; ::1; 91; ::1=auto auto",
        // Ports.
        "*:9092=rdma,*=tcp; connect; 10.1.2.3; 9092; *:9092=rdma rdma",
        "*:9092=rdma,*=tcp; connect; 10.1.2.3; 9093; *=tcp tcp",
        "10.0.0.0/8:9000-9099=rdma,*=tcp; connect; 10.1.2.3; 9099; 10.0.0.0/8:9000-9099=rdma rdma",
        "10.0.0.0/8:9000-9099=rdma,*=tcp; connect; 10.1.2.3; 9100; *=tcp tcp",
        // Sides.
        "connect:*=rdma,listen:*=auto; connect; 10.1.2.3; 80; connect:*=rdma rdma",
        "connect:*=rdma,listen:*=auto; listen; 0.0.0.0; 0; listen:*=auto auto",
        "listen:*:8080=tcp,rdma; listen; ::; 8080; listen:*:8080=tcp tcp",
        "listen:*:8080=tcp,rdma; connect; ::1; 8080; rdma rdma",
        // A server at every address is not one of a prefix, and one at any port not one of a port.
        "listen:10.0.0.0/8=tcp,rdma; listen; 0.0.0.0; 8080; rdma rdma",
        "*:1-65535=tcp,*:*=rdma; listen; 0.0.0.0; 0; *:*=rdma rdma",
        // Nothing but a word, and space.
        "auto; connect; 10.1.2.3; 80; auto auto",
        "' * = tcp '; connect; 10.1.2.3; 80; * = tcp tcp",
        "'listen: * : 80 = tcp, rdma'; listen; 10.1.2.3; 81; rdma rdma",
        "''; connect; 10.1.2.3; 80; rdma rdma"})
    void firstRuleThatMatchesDecides(String rules, String side, String address, int port,
            String decision) {
        assertThat(decide(rules, Side.valueOf(side.toUpperCase(java.util.Locale.ROOT)), address,
                port)).isEqualTo(decision);
    }

    @ParameterizedTest
    @CsvSource(delimiter = ';', value = {
        "rdma; 10.1.2.3; 53; null false", "tcp; 10.1.2.3; 53; null false",
        "datagrams:10.0.0.0/8=rdma,tcp; 10.1.2.3; 53; datagrams:10.0.0.0/8=rdma true",
        "datagrams:10.0.0.0/8=rdma,tcp; 11.1.2.3; 53; null true",
        "datagrams:*:53=udp,datagrams:rdma,tcp; 11.1.2.3; 53; datagrams:*:53=udp true",
        "datagrams:*:53=udp,datagrams:rdma,tcp; 11.1.2.3; 54; datagrams:rdma true",
        "datagrams:udp,rdma; 11.1.2.3; 54; datagrams:udp false"})
    void datagramsHaveRulesOfTheirOwn(String rules, String address, int port, String decision) {
        SocketRules parsed = SocketRules.parse(rules);
        assertThat(parsed.decideOfDatagrams(
                new InetSocketAddress(InetAddress.ofLiteral(address), port)) + " "
                + parsed.hasDatagrams()).isEqualTo(decision);
    }

    @ParameterizedTest
    @CsvSource(delimiter = ';', value = {
        "10.0.0.0/8; rule '10.0.0.0/8': it does not say what the address goes over: add =rdma, =tcp or =auto",
        "ib; rule 'ib': 'ib' is not rdma, tcp or auto",
        "*=ib; rule '*=ib': 'ib' is not rdma, tcp or auto",
        "*=; rule '*=': it does not say rdma, tcp or auto",
        "*=RDMA; rule '*=RDMA': 'RDMA' is not rdma, tcp or auto",
        "10.1=tcp; rule '10.1=tcp': '10.1' is no address: rules take 10.1.2.3, 10.0.0.0/8, [fd00::1], [fd00::]/8 or *, each perhaps with a :port, and no names",
        "db7=tcp; rule 'db7=tcp': 'db7' is no address: rules take 10.1.2.3, 10.0.0.0/8, [fd00::1], [fd00::]/8 or *, each perhaps with a :port, and no names",
        "db7:80=tcp; rule 'db7:80=tcp': 'db7' is no address: rules take 10.1.2.3, 10.0.0.0/8, [fd00::1], [fd00::]/8 or *, each perhaps with a :port, and no names",
        "fe80::1%1=tcp; rule 'fe80::1%1=tcp': 'fe80::1%1' is no address: rules take 10.1.2.3, 10.0.0.0/8, [fd00::1], [fd00::]/8 or *, each perhaps with a :port, and no names",
        "256.0.0.1=tcp; rule '256.0.0.1=tcp': '256.0.0.1' is no address: rules take 10.1.2.3, 10.0.0.0/8, [fd00::1], [fd00::]/8 or *, each perhaps with a :port, and no names",
        "=tcp; rule '=tcp': '' is no address: rules take 10.1.2.3, 10.0.0.0/8, [fd00::1], [fd00::]/8 or *, each perhaps with a :port, and no names",
        "[::1=tcp; rule '[::1=tcp': '[::1' is not ADDRESS, ADDRESS/BITS, ADDRESS:PORT or *",
        "10.0.0.0/33=tcp; rule '10.0.0.0/33=tcp': the prefix '33' is not 0 to 32",
        "fd00::/129=tcp; rule 'fd00::/129=tcp': the prefix '129' is not 0 to 128",
        "10.0.0.0/x=tcp; rule '10.0.0.0/x=tcp': the prefix 'x' is not 0 to 32",
        "*/8=tcp; rule '*/8=tcp': '*' is every address, without a prefix",
        "10.1.2.3/8=tcp; rule '10.1.2.3/8=tcp': 10.1.2.3 has bits behind its prefix: 10.0.0.0/8 would be right",
        "10.1.2.3/20=tcp; rule '10.1.2.3/20=tcp': 10.1.2.3 has bits behind its prefix: 10.1.0.0/20 would be right",
        "*:0=tcp; rule '*:0=tcp': the port '0' is not 1 to 65535",
        "*:http=tcp; rule '*:http=tcp': the port 'http' is not 1 to 65535",
        "*:70000=tcp; rule '*:70000=tcp': the port '70000' is not 1 to 65535",
        "*:90-80=tcp; rule '*:90-80=tcp': the last port '80' is not 90 to 65535",
        "*:80=rdma; no rule says what other addresses to connect to go over: end with *=tcp, *=rdma or *=auto",
        "connect:*=rdma; no rule says what other addresses to listen at go over: end with *=tcp, *=rdma or *=auto",
        "rdma,10.0.0.0/8=tcp; rule '10.0.0.0/8=tcp' is never reached: the first that matches decides, and one before it matches everything",
        "connect:*=tcp,connect:*:80=rdma,*=tcp; rule 'connect:*:80=rdma' is never reached: the first that matches decides, and one before it matches everything",
        "datagrams:*=tcp,*=tcp; rule 'datagrams:*=tcp': 'tcp' is not rdma or udp, which datagrams go over",
        "datagrams:*=,*=tcp; rule 'datagrams:*=': it does not say rdma or udp",
        "datagrams:10.0.0.0/8,*=tcp; rule 'datagrams:10.0.0.0/8': it does not say what the address goes over: add =rdma or =udp",
        "*=udp; rule '*=udp': 'udp' is not rdma, tcp or auto",
        "datagrams:*=rdma; no rule says what other addresses to connect to go over: end with *=tcp, *=rdma or *=auto",
        "datagrams:rdma,tcp,datagrams:*:53=udp; rule 'datagrams:*:53=udp' is never reached: the first that matches decides, and one before it matches everything",
        "@/nowhere/rules; rules: there is no file /nowhere/rules"})
    void mistakeIsNamedInOneLine(String rules, String said) {
        assertThatExceptionOfType(IllegalArgumentException.class)
                .isThrownBy(() -> SocketRules.parse(rules)).withMessage(said);
    }

    @Test
    void fileHasLinesAndComments(@TempDir Path directory) throws Exception {
        Path file = Files.writeString(directory.resolve("sockets.rules"), """
                # Kafka goes over RDMA, its probes do not.
                listen:*:9092 = rdma      # the broker

                connect:10.0.0.0/8:9092 = rdma, *:9093=tcp
                * = tcp
                """);
        SocketRules rules = SocketRules.parse("@" + file);
        assertThat(rules).hasToString(
                "listen:*:9092 = rdma,connect:10.0.0.0/8:9092 = rdma,*:9093=tcp,* = tcp");
        assertThat(SocketRules.parse(rules.toString())).hasToString(rules.toString());
        Files.writeString(file, "*:80 = tcp\n\n*:81 = ib\n*=tcp\n");
        assertThatExceptionOfType(IllegalArgumentException.class)
                .isThrownBy(() -> SocketRules.parse("@" + file))
                .withMessage(file + ", line 3, rule '*:81 = ib': 'ib' is not rdma, tcp or auto");
        Files.writeString(file, "*:80 = tcp\n");
        assertThatExceptionOfType(IllegalArgumentException.class)
                .isThrownBy(() -> SocketRules.parse("@" + file)).withMessageStartingWith(
                        file + ": no rule says what other addresses to connect to go over");
    }
}
