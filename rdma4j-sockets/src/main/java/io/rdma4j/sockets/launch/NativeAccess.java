// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets.launch;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;

/**
 * Does what {@code --enable-native-access=ALL-UNNAMED} does, for which the JDK has an option and no method: software devices call
 * the system by it, and are slower without.
 */
final class NativeAccess {
    private static final System.Logger LOG = System.getLogger(NativeAccess.class.getName());
    private static final String PACKAGE = "jdk.internal.access";

    private NativeAccess() {}

    /** Enables it, if the JDK is like JDK 25; devices do without otherwise. The package is exported to this module. */
    static void enable() {
        if (NativeAccess.class.getModule().isNamed()
                || NativeAccess.class.getModule().isNativeAccessEnabled()) {
            return;
        }
        try {
            Class<?> access = Class.forName(PACKAGE + ".JavaLangAccess");
            MethodHandles.Lookup lookup = MethodHandles.lookup();
            MethodHandle known = lookup.findStatic(Class.forName(PACKAGE + ".SharedSecrets"),
                    "getJavaLangAccess", MethodType.methodType(access));
            MethodHandle enabling = lookup.findVirtual(access, "addEnableNativeAccessToAllUnnamed",
                    MethodType.methodType(void.class));
            enabling.invoke(known.invoke());
        } catch (Throwable e) {
            LOG.log(System.Logger.Level.WARNING, "native access is not enabled: software devices"
                    + " are faster with --enable-native-access=ALL-UNNAMED", e);
        }
    }
}
