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
import io.rdma4j.verbs.RdmaException;
import org.jspecify.annotations.Nullable;

import java.lang.foreign.SymbolLookup;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;

/** The kernel's connection manager: one channel of librdmacm for all devices of the process, opened when first needed. */
final class KernelManager implements ConnectionManager {
    private final Supplier<SymbolLookup> library;
    private final Library<SystemSymbol> system;
    private @Nullable CmChannel channel;
    private @Nullable PortAuthority ports;

    /** @param library finds librdmacm, or throws that there is none */
    KernelManager(Supplier<SymbolLookup> library, Library<SystemSymbol> system) {
        this.library = library;
        this.system = system;
    }

    @Override
    public @Nullable NativeConnections of(CmContext device,
            UnaryOperator<CmListener.Handler> following) {
        CmChannel opened = channel();
        return opened == null ? null : new NativeConnections(opened, device, following);
    }

    PortAuthority portAuthority() {
        CmChannel opened = channel();
        return opened == null ? PortAuthority.PROCESS : portsOf(opened);
    }

    private synchronized PortAuthority portsOf(CmChannel opened) {
        PortAuthority known = ports;
        if (known == null) {
            known = new KernelPorts(opened);
            ports = known;
        }
        return known;
    }

    private synchronized @Nullable CmChannel channel() {
        CmChannel known = channel;
        if (known == null) {
            try {
                known = new CmChannel(new Library<>("librdmacm.so.1", CmSymbol.class,
                        library.get()), system, new EventLoop(system, "rdma4j-cm"));
                channel = known;
            } catch (RdmaException | IllegalArgumentException _) {
                // Verbs alone can be used then; who connects is told so.
                return null;
            }
        }
        return known;
    }
}
