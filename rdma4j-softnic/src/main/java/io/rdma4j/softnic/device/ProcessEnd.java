// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.device;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;

/**
 * The end of this process. A kernel closes the sockets of a process after all that its program did. The JDK runs the hooks of
 * {@link Runtime#addShutdownHook} at the same time, so a program that says good-bye to its peers in one would lose its connections under
 * way. Behind them the JDK has places of its own, in {@code jdk.internal.access}: {@code -javaagent} of the sockets exports
 * it, and so does {@code --add-exports java.base/jdk.internal.access=ALL-UNNAMED}.
 */
final class ProcessEnd {
    private static final System.Logger LOG = System.getLogger(ProcessEnd.class.getName());
    private static final String PACKAGE = "jdk.internal.access";
    /** The last of ten. The JDK has the first three: the console, the hooks of programs, files to delete. */
    private static final int LAST_PLACE = 9;

    private ProcessEnd() {}

    /** Has it run behind the hooks of the program, or beside them where nothing else is possible. */
    static void register(Runnable closing, String threadName) {
        if (!isLast(closing)) {
            Runtime.getRuntime().addShutdownHook(new Thread(closing, threadName));
        }
    }

    private static boolean isLast(Runnable closing) {
        Module jdk = Object.class.getModule();
        if (!jdk.isExported(PACKAGE, ProcessEnd.class.getModule())) {
            return false;
        }
        try {
            Class<?> access = Class.forName(PACKAGE + ".JavaLangAccess");
            MethodHandles.Lookup lookup = MethodHandles.lookup();
            MethodHandle known = lookup.findStatic(Class.forName(PACKAGE + ".SharedSecrets"),
                    "getJavaLangAccess", MethodType.methodType(access));
            MethodHandle registering = lookup.findVirtual(access, "registerShutdownHook",
                    MethodType.methodType(void.class, int.class, boolean.class, Runnable.class));
            // A hook of the program may be the first to open a device.
            registering.invoke(known.invoke(), LAST_PLACE, true, closing);
            return true;
        } catch (Throwable e) {
            LOG.log(System.Logger.Level.DEBUG, "devices close beside the program's hooks", e);
            return false;
        }
    }
}
