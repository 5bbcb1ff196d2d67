// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.jdk;

import java.io.IOException;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.nio.channels.spi.SelectorProvider;

/**
 * Where devices get the system's sockets, pipes and selectors. The JVM's provider may be one whose channels go over devices;
 * then {@code SocketChannel.open} and its like would make a device of itself. So nothing of rdma4j calls them. Thread safe.
 */
public final class JdkProvider {
    static final String PACKAGE = "sun.nio.ch";
    private static final String DEFAULT = PACKAGE + ".DefaultSelectorProvider";

    private JdkProvider() {}

    /**
     * {@return the provider of the JVM; the JDK's own if that is {@link OverDevices}}
     *
     * @throws IOException if the JDK's own is not exported to this module
     */
    public static SelectorProvider provider() throws IOException {
        SelectorProvider configured = SelectorProvider.provider();
        return configured instanceof OverDevices ? ofTheJdk() : configured;
    }

    /** {@return the JDK's own, which no object of the JDK leads to} */
    private static SelectorProvider ofTheJdk() throws IOException {
        try {
            Class<?> holder = Class.forName(DEFAULT);
            Class<?> kind = Class.forName(PACKAGE + ".SelectorProviderImpl");
            MethodHandle made = MethodHandles.lookup().findStatic(holder, "get",
                    MethodType.methodType(kind));
            return (SelectorProvider) made.invoke();
        } catch (IllegalAccessException e) {
            throw outOfReach("channels", e);
        } catch (RuntimeException | Error e) {
            throw e;
        } catch (Throwable e) {
            throw unlike(DEFAULT, e);
        }
    }

    /** {@return what to say where the package is not exported} */
    static IOException outOfReach(String what, IllegalAccessException cause) {
        return new IOException("the JDK's own " + what + " are out of reach, because those of the"
                + " JVM are rdma4j's: start java with --add-exports java.base/" + PACKAGE + "="
                + module() + ", or with rdma4j's -javaagent", cause);
    }

    /** {@return what to say of a JDK that is another than it was written for} */
    static IOException unlike(String name, Throwable cause) {
        return new IOException("this JDK has no " + name + " as JDK 25 has: " + cause, cause);
    }

    private static String module() {
        String name = JdkProvider.class.getModule().getName();
        return name == null ? "ALL-UNNAMED" : name;
    }
}
