// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.network.linux.stream;

import io.rdma4j.softnic.network.linux.calls.LinuxSocket;
import io.rdma4j.softnic.network.linux.calls.TcpCalls;

import java.io.File;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.net.InetSocketAddress;
import java.util.Objects;

/** The listening sockets of this process, for tests that need one that accepts nothing any more. Linux alone. */
public final class ListeningSockets {
    private static final MethodHandle SHUTDOWN = Linker.nativeLinker().downcallHandle(
            Linker.nativeLinker().defaultLookup().findOrThrow("shutdown"),
            FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_INT,
                    ValueLayout.JAVA_INT));
    private static final int BOTH_WAYS = 2;

    private ListeningSockets() {}

    /** From then on the socket that listens at an address is always ready, and each accept4 answers EINVAL. */
    public static void stop(InetSocketAddress local) {
        try (Arena arena = Arena.ofConfined()) {
            TcpCalls calls = new TcpCalls(arena);
            int stopped = 0;
            for (String each : Objects.requireNonNull(new File("/proc/self/fd").list())) {
                int descriptor = Integer.parseInt(each);
                // Those that it has accepted have a remote address. A socket that is only bound refuses.
                if (isAt(calls, descriptor, local) && !hasRemote(calls, descriptor)
                        && shutDown(descriptor)) {
                    stopped++;
                }
            }
            if (stopped != 1) {
                throw new AssertionError(stopped + " sockets listen at " + local);
            }
        }
    }

    private static boolean shutDown(int descriptor) {
        try {
            return (int) SHUTDOWN.invokeExact(descriptor, BOTH_WAYS) == 0;
        } catch (Throwable t) {
            throw new AssertionError(t);
        }
    }

    private static boolean isAt(TcpCalls calls, int descriptor, InetSocketAddress local) {
        try {
            return calls.local(descriptor).equals(local);
        } catch (LinuxSocket.Refused | IllegalStateException anotherKindOfFile) {
            return false;
        }
    }

    private static boolean hasRemote(TcpCalls calls, int descriptor) {
        try {
            calls.remote(descriptor);
            return true;
        } catch (LinuxSocket.Refused notConnected) {
            return false;
        }
    }
}
