// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.network.linux.calls;

import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.SystemErrors;
import org.jspecify.annotations.Nullable;

import java.lang.foreign.ValueLayout;
import java.util.function.Supplier;

/** Whether this process can call Linux itself, and which calls it is refused. */
public final class LinuxAccess {
    private LinuxAccess() {}

    /** {@return why calls of Linux are not even tried here, or null if they are} */
    public static @Nullable String obstacle() {
        if (!System.getProperty("os.name", "").equals("Linux")) {
            return "this is not Linux";
        }
        if (ValueLayout.ADDRESS.byteSize() != Long.BYTES) {
            return "this is not a 64-bit machine";
        }
        Module module = LinuxAccess.class.getModule();
        if (!module.isNativeAccessEnabled()) {
            return "native access is not enabled; start Java with --enable-native-access="
                    + (module.isNamed() ? module.getName() : "ALL-UNNAMED");
        }
        return null;
    }

    /**
     * {@return why a network that needs some calls does not work here, or null if it does}
     *
     * @param refusal tries the calls, and says which one is refused, null if none is
     */
    public static @Nullable String obstacle(Supplier<@Nullable String> refusal) {
        String ofSystem = obstacle();
        if (ofSystem != null) {
            return ofSystem;
        }
        try {
            String refused = refusal.get();
            return refused == null ? null : "a system call is refused: " + refused;
        } catch (LinkageError e) {
            return "the C library lacks what is needed: " + e.getMessage();
        }
    }

    /** {@return a call and its error, null unless it was refused whatever it was about} */
    public static @Nullable String refusal(String call, long result) {
        int error = (int) -result;
        return error == Errno.EPERM.number() || error == Errno.EACCES.number()
                || error == Errno.ENOSYS.number() ? call + ": " + SystemErrors.text(error) : null;
    }
}
