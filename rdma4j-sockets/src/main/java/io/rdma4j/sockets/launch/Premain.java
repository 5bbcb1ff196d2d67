// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets.launch;

import io.rdma4j.jdk.JdkProvider;
import io.rdma4j.sockets.RuledSelectorProvider;
import io.rdma4j.sockets.engine.BufferSize;
import io.rdma4j.sockets.rules.SocketRules;
import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.lang.instrument.Instrumentation;
import java.nio.channels.spi.SelectorProvider;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Makes {@link RuledSelectorProvider} the provider of a JVM before its program starts: what takes three options otherwise, and one for
 * programs with Netty. Whatever is wrong ends the JVM with one line, since it would stay on TCP.
 *
 * @see Instrumentation
 */
public final class Premain {
    private static final String PROVIDER = "java.nio.channels.spi.SelectorProvider";
    /** Netty takes sockets of its own where it has a native library, and none with these. */
    private static final List<String> WITHOUT_NATIVE = List.of("io.netty.transport.noNative",
            "io.grpc.netty.shaded.io.netty.transport.noNative");
    private static final String DEVICES = "META-INF/services/io.rdma4j.verbs.RdmaProvider";
    /** Whether sockets that are no channels go by the rules as well. Default: true. */
    private static final String PLAIN = "rdma4j.sockets.plain";
    /** Of the JDK, which a program that is a module may not require. */
    private static final List<String> MODULES = List.of("java.management", "jdk.jfr", "jdk.net");
    private static final int FAILED = 1;

    private Premain() {}

    /**
     * Called by {@link Agent}.
     *
     * @param rules the text behind {@code -javaagent:JAR=}, null without one
     */
    public static void premain(@Nullable String rules, Instrumentation jvm) {
        try {
            String text = rules == null
                    ? System.getProperty(RuledSelectorProvider.RULES, "")
                    : rules;
            requireDevices();
            requireModules();
            SocketRules parsed = SocketRules.parse(text);
            int _ = BufferSize.usual();
            open(jvm);
            set(PROVIDER, RuledSelectorProvider.class.getName());
            System.setProperty(RuledSelectorProvider.RULES, text);
            RuledSelectorProvider provider = requireProvider();
            WITHOUT_NATIVE.stream().filter(each -> System.getProperty(each) == null)
                    .forEach(each -> System.setProperty(each, "true"));
            if (!parsed.isTcpAlone()) {
                jvm.addTransformer(new NativeTransports(System.err::println));
                boolean areRouted = mayRouteSockets();
                if (areRouted) {
                    provider.routeSockets();
                }
                jvm.addTransformer(new JdkSockets(System.err::println, areRouted));
            }
        } catch (IllegalArgumentException | IllegalStateException e) {
            fail(e.getMessage());
        } catch (IOException e) {
            fail("sockets cannot go by the rules: " + e.getMessage() + "; take -D" + PLAIN
                    + "=false, and they stay on TCP");
        }
    }

    private static void fail(@Nullable String why) {
        System.err.println("rdma4j: " + why);
        System.exit(FAILED);
    }

    /** The other jars of rdma4j lie beside that of the agent, or the program has them. */
    private static void requireDevices() {
        boolean isThere = Premain.class.getModule().isNamed()
                || ClassLoader.getSystemResource(DEVICES) != null;
        if (!isThere) {
            throw new IllegalStateException("there is no provider of devices: the other jars of"
                    + " rdma4j belong beside that of -javaagent");
        }
    }

    /** Those of the class path have all modules; of the module path, those that the program requires. */
    private static void requireModules() {
        List<String> missing = MODULES.stream()
                .filter(each -> ModuleLayer.boot().findModule(each).isEmpty()).toList();
        if (!missing.isEmpty()) {
            throw new IllegalStateException("the program is a module, and the JVM has no more than"
                    + " that requires: add --add-modules=" + String.join(",", missing));
        }
    }

    /** Lets rdma4j reach the JDK's own channels, and its devices the system's calls. */
    private static void open(Instrumentation jvm) {
        Set<Module> ours = Set.of(JdkProvider.class.getModule());
        jvm.redefineModule(Object.class.getModule(), Set.of(),
                Map.of("sun.nio.ch", ours, "jdk.internal.access",
                        Set.of(Premain.class.getModule())),
                // For its sockets that ask for proxies.
                Map.of("java.net", ours), Set.of(), Map.of());
        NativeAccess.enable();
    }

    private static void set(String property, String value) {
        String present = System.getProperty(property);
        if (present != null && !present.equals(value)) {
            throw new IllegalStateException("-D" + property + "=" + present + " is set already:"
                    + " take it away, or start without -javaagent");
        }
        System.setProperty(property, value);
    }

    private static RuledSelectorProvider requireProvider() {
        SelectorProvider provider = SelectorProvider.provider();
        if (!(provider instanceof RuledSelectorProvider ours)) {
            throw new IllegalStateException("the JVM has " + provider.getClass().getName()
                    + " already: name rdma4j's -javaagent before the others");
        }
        return ours;
    }

    /** {@return whether plain sockets go by the rules} */
    private static boolean mayRouteSockets() {
        String wanted = System.getProperty(PLAIN, "true");
        if (!wanted.equals("true") && !wanted.equals("false")) {
            throw new IllegalArgumentException(
                    "-D" + PLAIN + " is true or false, not '" + wanted + "'");
        }
        return wanted.equals("true");
    }
}
