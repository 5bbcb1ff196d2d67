// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets.launch;

import org.jspecify.annotations.Nullable;

import java.lang.instrument.ClassFileTransformer;
import java.security.ProtectionDomain;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Says in one line if a program takes Netty's own sockets, which go over TCP whatever the rules say. It changes no class. */
final class NativeTransports implements ClassFileTransformer {
    /** Also those that are shaded, such as gRPC's. */
    private static final Pattern CHANNEL = Pattern.compile(
            "(?:.*/)?io/netty/channel/(?:epoll/Epoll|kqueue/KQueue|uring/IoUring)"
                    + "(?:Server)?SocketChannel");

    private final Consumer<String> out;
    private final AtomicBoolean isSaid = new AtomicBoolean();

    NativeTransports(Consumer<String> out) {
        this.out = out;
    }

    @Override
    public byte @Nullable [] transform(@Nullable Module module, @Nullable ClassLoader loader,
            @Nullable String name, @Nullable Class<?> redefined, @Nullable ProtectionDomain domain,
            byte[] bytes) {
        // Nearly all classes end here; none may be loaded by it.
        if (name == null || !name.endsWith("SocketChannel")
                || !name.contains("io/netty/channel/")) {
            return null;
        }
        Matcher channel = CHANNEL.matcher(name);
        if (channel.matches() && isSaid.compareAndSet(false, true)) {
            String prefix = name.substring(0, name.indexOf("io/netty/")).replace('/', '.');
            out.accept("rdma4j: " + name.replace('/', '.') + " goes over TCP, whatever the rules"
                    + " say: let -D" + prefix + "io.netty.transport.noNative be true, so that"
                    + " Netty takes the JVM's channels");
        }
        return null;
    }
}
