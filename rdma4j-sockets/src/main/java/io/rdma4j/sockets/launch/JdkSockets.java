// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets.launch;

import org.jspecify.annotations.Nullable;

import java.lang.instrument.ClassFileTransformer;
import java.net.Socket;
import java.security.ProtectionDomain;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * Says in one line if a program makes sockets of the JDK's that are no channels of its provider, and so go over TCP whatever the rules say: once for each kind, of who makes
 * the first of them. It changes no class.
 */
final class JdkSockets implements ClassFileTransformer {
    private static final String SOCKETS = "java.net.Socket";
    private static final String ASYNCHRONOUS = "java.nio.channels.AsynchronousSocketChannel";
    /** What the first socket of a kind loads, and the kind. */
    private static final Map<String, String> KINDS = Map.of("sun/nio/ch/NioSocketImpl", SOCKETS,
            // The first that connects, where an observer has made the others.
            "java/net/SocksSocketImpl", SOCKETS,
            "sun/nio/ch/UnixAsynchronousSocketChannelImpl", ASYNCHRONOUS,
            "sun/nio/ch/UnixAsynchronousServerSocketChannelImpl", ASYNCHRONOUS,
            "sun/nio/ch/WindowsAsynchronousSocketChannelImpl", ASYNCHRONOUS,
            "sun/nio/ch/WindowsAsynchronousServerSocketChannelImpl", ASYNCHRONOUS);
    /** How a program can do otherwise. */
    private static final Map<String, String> REMEDIES = Map.of(SOCKETS,
            "where it takes a factory give it RdmaSocketFactory or RdmaServerSocketFactory",
            ASYNCHRONOUS,
            "let it take channels and a selector where it has the choice");
    /** Who looks at a JVM from outside makes it listen. */
    private static final List<String> OF_OBSERVERS = List.of("sun.rmi.", "java.rmi.",
            "javax.management.", "sun.management.", "jdk.internal.agent.");
    private static final List<String> OF_JDK = List.of("java.", "javax.", "jdk.", "sun.",
            "com.sun.", "io.rdma4j.sockets.launch.");

    private final Consumer<String> out;
    private final Supplier<List<Caller>> callers;
    private final Map<String, Boolean> saidOf = new ConcurrentHashMap<>();

    /**
     * A method that the calling thread is in.
     *
     * @param ofClass the name of its class
     * @param wrapsSocket whether it makes a socket above another one, as TLS does: that has an implementation of the JDK's as well, which it does not use
     */
    record Caller(String ofClass, boolean wrapsSocket) {
        private static Caller of(StackWalker.StackFrame frame) {
            return new Caller(frame.getClassName(), frame.getMethodName().equals("<init>")
                    && frame.getMethodType().parameterList().contains(Socket.class));
        }

        private boolean isOf(List<String> packages) {
            return packages.stream().anyMatch(ofClass::startsWith);
        }
    }

    JdkSockets(Consumer<String> out) {
        this(out, () -> StackWalker.getInstance(StackWalker.Option.RETAIN_CLASS_REFERENCE)
                .walk(frames -> frames.map(Caller::of).toList()));
    }

    /** @param callers the methods that the calling thread is in, the last called first */
    JdkSockets(Consumer<String> out, Supplier<List<Caller>> callers) {
        this.out = out;
        this.callers = callers;
    }

    @Override
    public byte @Nullable [] transform(@Nullable Module module, @Nullable ClassLoader loader,
            @Nullable String name, @Nullable Class<?> redefined, @Nullable ProtectionDomain domain,
            byte[] bytes) {
        // Nearly all classes end here; none may be loaded by it.
        if (name == null || !(name.startsWith("sun/nio/ch/") || name.startsWith("java/net/S"))) {
            return null;
        }
        String kind = KINDS.get(name);
        if (kind != null) {
            say(kind);
        }
        return null;
    }

    private void say(String kind) {
        List<Caller> by = callers.get();
        boolean isObserved = by.stream().takeWhile(each -> each.isOf(OF_JDK))
                .anyMatch(each -> each.isOf(OF_OBSERVERS));
        if (isObserved || by.stream().anyMatch(Caller::wrapsSocket)
                || saidOf.putIfAbsent(kind, true) != null) {
            return;
        }
        String program = by.stream().filter(each -> !each.isOf(OF_JDK)).map(Caller::ofClass)
                .findFirst().orElse("the program");
        out.accept("rdma4j: " + kind + " of " + program + " goes over TCP, whatever the rules say: "
                + REMEDIES.get(kind));
    }
}
