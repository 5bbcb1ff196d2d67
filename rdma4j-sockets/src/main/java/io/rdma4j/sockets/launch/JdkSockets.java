// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets.launch;

import io.rdma4j.sockets.rules.AlwaysTcp;
import org.jspecify.annotations.Nullable;

import java.lang.instrument.ClassFileTransformer;
import java.security.ProtectionDomain;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * Says in one line if a program uses sockets of the JDK's that are no channels of its provider, and so go over TCP whatever the rules say: once for each kind, of who uses
 * the first of them. It changes no class.
 */
final class JdkSockets implements ClassFileTransformer {
    private static final String SOCKETS = "java.net.Socket";
    private static final String ASYNCHRONOUS = "java.nio.channels.AsynchronousSocketChannel";
    /**
     * What the first of a kind loads when it is used, and the kind. Sockets are made to ask them something, too, or to put TLS above others; those that are read or written have these streams.
     */
    private static final Map<String, String> KINDS = Map.of("sun/nio/ch/NioSocketImpl$1", SOCKETS,
            "sun/nio/ch/NioSocketImpl$2", SOCKETS,
            "sun/nio/ch/UnixAsynchronousSocketChannelImpl", ASYNCHRONOUS,
            "sun/nio/ch/UnixAsynchronousServerSocketChannelImpl", ASYNCHRONOUS,
            "sun/nio/ch/WindowsAsynchronousSocketChannelImpl", ASYNCHRONOUS,
            "sun/nio/ch/WindowsAsynchronousServerSocketChannelImpl", ASYNCHRONOUS);
    /** How a program can do otherwise. */
    private static final Map<String, String> REMEDIES = Map.of(SOCKETS,
            "where it takes a factory give it RdmaSocketFactory or RdmaServerSocketFactory",
            ASYNCHRONOUS,
            "let it take channels and a selector where it has the choice");
    private final Consumer<String> out;
    private final Supplier<List<String>> callers;
    private final boolean areSocketsRouted;
    private final Map<String, Boolean> saidOf = new ConcurrentHashMap<>();

    /** @param areSocketsRouted whether {@code java.net.Socket} goes by the rules */
    JdkSockets(Consumer<String> out, boolean areSocketsRouted) {
        this(out, areSocketsRouted, () -> StackWalker.getInstance()
                .walk(frames -> frames.map(StackWalker.StackFrame::getClassName).toList()));
    }

    /** @param callers the names of the classes whose methods the calling thread is in, the last called first */
    JdkSockets(Consumer<String> out, boolean areSocketsRouted,
            Supplier<List<String>> callers) {
        this.out = out;
        this.areSocketsRouted = areSocketsRouted;
        this.callers = callers;
    }

    @Override
    public byte @Nullable [] transform(@Nullable Module module, @Nullable ClassLoader loader,
            @Nullable String name, @Nullable Class<?> redefined, @Nullable ProtectionDomain domain,
            byte[] bytes) {
        // Nearly all classes end here; none may be loaded by it.
        if (name == null || !name.startsWith("sun/nio/ch/")) {
            return null;
        }
        String kind = KINDS.get(name);
        if (kind != null && !(areSocketsRouted && kind.equals(SOCKETS))) {
            say(kind);
        }
        return null;
    }

    private void say(String kind) {
        List<String> by = callers.get();
        if (AlwaysTcp.isAmong(by) || saidOf.putIfAbsent(kind, true) != null) {
            return;
        }
        String program = by.stream().filter(each -> !AlwaysTcp.isBelow(each)).findFirst()
                .orElse("the program");
        out.accept("rdma4j: " + kind + " of " + program + " goes over TCP, whatever the rules say: "
                + REMEDIES.get(kind));
    }
}
