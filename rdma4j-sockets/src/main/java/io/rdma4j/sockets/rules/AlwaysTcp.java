// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets.rules;

import java.util.List;
import java.util.stream.Stream;

/**
 * Who makes plain sockets that go over TCP whatever the rules say: what lets others look at a JVM, and RMI, by which they do, for their
 * side is no program of the rules.
 */
public final class AlwaysTcp {
    private static final List<String> PACKAGES = List.of("sun.rmi.", "java.rmi.",
            "javax.management.", "sun.management.", "jdk.internal.agent.", "com.sun.tools.jdi.");
    /** Makes all sockets of RMI, also by factories of the program. It calls no remote object. */
    private static final String ENDPOINT = "sun.rmi.transport.tcp.TCPEndpoint";
    private static final List<String> OF_JDK = List.of("java.", "javax.", "jdk.", "sun.",
            "com.sun.", "io.rdma4j.sockets.rules.", "io.rdma4j.sockets.launch.",
            "io.rdma4j.sockets.RuledSelectorProvider");

    private AlwaysTcp() {}

    /** {@return whether the calling thread makes a socket for them} */
    public static boolean isCalling() {
        StackWalker walker = StackWalker.getInstance();
        return isAmong(walker.walk(frames -> frames.map(StackWalker.StackFrame::getClassName)
                .toList()));
    }

    /**
     * {@return whether they are among the callers}
     *
     * @param callers the names of the classes whose methods a thread is in, the last called first
     */
    public static boolean isAmong(List<String> callers) {
        Stream<String> below = callers.stream().takeWhile(AlwaysTcp::isBelow);
        return callers.contains(ENDPOINT) || below.anyMatch(each -> isAnyOf(PACKAGES, each));
    }

    /** {@return whether a class is of the JDK or of this module, below the program} */
    public static boolean isBelow(String name) {
        return isAnyOf(OF_JDK, name);
    }

    private static boolean isAnyOf(List<String> packages, String name) {
        return packages.stream().anyMatch(name::startsWith);
    }
}
