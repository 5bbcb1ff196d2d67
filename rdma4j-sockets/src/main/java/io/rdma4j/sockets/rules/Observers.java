// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets.rules;

import java.util.List;
import java.util.stream.Stream;

/** Who looks at a JVM from outside: that makes it listen and connect by sockets for which no rule of the program is meant. */
public final class Observers {
    private static final List<String> PACKAGES = List.of("sun.rmi.", "java.rmi.",
            "javax.management.", "sun.management.", "jdk.internal.agent.");
    private static final List<String> OF_JDK = List.of("java.", "javax.", "jdk.", "sun.",
            "com.sun.", "io.rdma4j.sockets.rules.", "io.rdma4j.sockets.launch.",
            "io.rdma4j.sockets.RuledSelectorProvider");

    private Observers() {}

    /** {@return whether the calling thread makes a socket for them} */
    public static boolean areCalling() {
        return StackWalker.getInstance().walk(
                frames -> areAmong(frames.map(StackWalker.StackFrame::getClassName)));
    }

    /**
     * {@return whether they are among the callers}
     *
     * @param callers the names of the classes whose methods a thread is in, the last called first
     */
    public static boolean areAmong(Stream<String> callers) {
        return callers.takeWhile(Observers::isBelow).anyMatch(each -> isAnyOf(PACKAGES, each));
    }

    /** {@return whether a class is of the JDK or of this module, below the program} */
    public static boolean isBelow(String name) {
        return isAnyOf(OF_JDK, name);
    }

    private static boolean isAnyOf(List<String> packages, String name) {
        return packages.stream().anyMatch(name::startsWith);
    }
}
