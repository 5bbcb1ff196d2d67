// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.ibverbs.provider;

import io.rdma4j.ibverbs.abi.CmSymbol;
import io.rdma4j.ibverbs.abi.Library;
import io.rdma4j.ibverbs.abi.SystemSymbol;
import io.rdma4j.ibverbs.cm.CmChannel;
import io.rdma4j.ibverbs.cm.KernelPorts;
import io.rdma4j.ibverbs.cm.NativeConnections;
import io.rdma4j.ibverbs.event.EventLoop;
import io.rdma4j.ibverbs.verbs.ConnectionManager;
import io.rdma4j.spi.CmContext;
import io.rdma4j.spi.CmListener;
import io.rdma4j.spi.PortAuthority;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;
import org.jspecify.annotations.Nullable;

import java.lang.foreign.SymbolLookup;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;

/**
 * The kernel's connection manager: one channel of librdmacm for all devices of the process, opened when first needed. Thread
 * safe.
 */
final class KernelManager implements ConnectionManager {
    /** How long a failure is cached: every id checks, and the module may be loaded at any time. */
    static final long FAILURE_COUNTS_NS = TimeUnit.SECONDS.toNanos(5);

    private final Supplier<SymbolLookup> lookup;
    private final Library<SystemSymbol> system;
    private final LongSupplier nowNs;
    private @Nullable Library<CmSymbol> library;
    private @Nullable CmChannel channel;
    private @Nullable PortAuthority ports;
    private @Nullable RdmaException failure;
    private long failedAtNs;

    /**
     * @param lookup finds librdmacm, or throws an IllegalArgumentException that there is none
     * @param nowNs the time, as {@link System#nanoTime}
     */
    KernelManager(Supplier<SymbolLookup> lookup, Library<SystemSymbol> system,
            LongSupplier nowNs) {
        this.lookup = lookup;
        this.system = system;
        this.nowNs = nowNs;
    }

    /** {@return why the library cannot be loaded, empty if it can} */
    synchronized Optional<String> libraryError() {
        try {
            library();
            return Optional.empty();
        } catch (RdmaException e) {
            return Optional.of(e.detail());
        } catch (IllegalArgumentException e) {
            return Optional.of(String.valueOf(e.getMessage()));
        }
    }

    /** {@return why it cannot be used, and what to do; null if it can} */
    @Nullable
    String obstacle() {
        try {
            channel();
            return null;
        } catch (RdmaException e) {
            return e.detail();
        }
    }

    @Override
    public @Nullable NativeConnections of(CmContext device,
            UnaryOperator<CmListener.Handler> following) {
        try {
            return new NativeConnections(channel(), device, following);
        } catch (RdmaException _) {
            // Verbs still work without it; connecting reports the reason.
            return null;
        }
    }

    synchronized PortAuthority portAuthority() {
        try {
            PortAuthority known = ports;
            if (known == null) {
                known = new KernelPorts(channel());
                ports = known;
            }
            return known;
        } catch (RdmaException _) {
            return PortAuthority.PROCESS;
        }
    }

    private synchronized CmChannel channel() throws RdmaException {
        CmChannel known = channel;
        if (known != null) {
            return known;
        }
        RdmaException last = failure;
        if (last != null && nowNs.getAsLong() - failedAtNs < FAILURE_COUNTS_NS) {
            throw last;
        }
        try {
            known = open();
            channel = known;
            return known;
        } catch (RdmaException e) {
            failure = e;
            failedAtNs = nowNs.getAsLong();
            throw e;
        }
    }

    private CmChannel open() throws RdmaException {
        Library<CmSymbol> loaded;
        try {
            loaded = library();
        } catch (IllegalArgumentException e) {
            throw new RdmaException(Errno.EOPNOTSUPP, "open connection manager",
                    "librdmacm cannot be loaded (" + e.getMessage() + "): install librdmacm1"
                            + " (Debian, Ubuntu) or librdmacm (Fedora, RHEL)",
                    e);
        }
        EventLoop loop = new EventLoop(system, "rdma4j-cm");
        boolean isOpen = false;
        try {
            CmChannel opened = new CmChannel(loaded, system, loop);
            isOpen = true;
            return opened;
        } finally {
            if (!isOpen) {
                loop.close();
            }
        }
    }

    /**
     * {@return the library, loaded by the first call}
     *
     * @throws IllegalArgumentException if there is none
     * @throws RdmaException EOPNOTSUPP if it is too old
     */
    private Library<CmSymbol> library() throws RdmaException {
        Library<CmSymbol> known = library;
        if (known == null) {
            known = new Library<>("librdmacm.so.1", CmSymbol.class, lookup.get());
            library = known;
        }
        return known;
    }
}
