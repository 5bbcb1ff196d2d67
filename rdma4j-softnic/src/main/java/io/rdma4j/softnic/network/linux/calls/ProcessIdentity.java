// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.network.linux.calls;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * What names a process in memory that processes of several containers share: its number, and in the upper half of the word
 * the PID namespace in which it is the number of this process. In another namespace it is that of another process, or of
 * none. Source: pid_namespaces(7).
 */
public final class ProcessIdentity {
    private static final long NAMESPACE = namespace();
    private static final long OWN = inThisNamespace(ProcessHandle.current().pid());
    private static final boolean SEES_OWN_NAMESPACE = seesOwnNamespace();

    private ProcessIdentity() {}

    /** {@return this process} */
    public static long own() {
        return OWN;
    }

    /** {@return the process that has a number in this process's namespace} */
    public static long inThisNamespace(long number) {
        return NAMESPACE << Integer.SIZE | (number & 0xffff_ffffL);
    }

    /** {@return whether the system shows the files of a process to this one under its number, if it shows them at all} */
    static boolean isVisible(long process) {
        return SEES_OWN_NAMESPACE && (process ^ OWN) >>> Integer.SIZE == 0;
    }

    /** {@return the number of a process in its namespace} */
    static long number(long process) {
        return process & 0xffff_ffffL;
    }

    /** {@return how to call a process in a text} */
    public static String text(long process) {
        return "process " + number(process)
                + ((process ^ OWN) >>> Integer.SIZE == 0 ? "" : " of another container");
    }

    private static long namespace() {
        try {
            return (Long) Files.getAttribute(Path.of("/proc/self/ns/pid"), "unix:ino");
        } catch (IOException | RuntimeException unknown) {
            return 0;
        }
    }

    /** A process may have been given the files of the processes of another namespace. */
    private static boolean seesOwnNamespace() {
        try {
            return Files.readSymbolicLink(Path.of("/proc/self"))
                    .equals(Path.of(Long.toString(number(OWN))));
        } catch (IOException | RuntimeException unknown) {
            return false;
        }
    }
}
