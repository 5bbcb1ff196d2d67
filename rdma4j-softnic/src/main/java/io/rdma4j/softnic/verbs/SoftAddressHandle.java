package io.rdma4j.softnic.verbs;

import io.rdma4j.protocol.work.Path;
import io.rdma4j.verbs.AddressHandle;
import io.rdma4j.verbs.AddressHandleAttributes;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.RdmaException;

/** The path of datagrams. */
final class SoftAddressHandle implements AddressHandle {
    private final SoftProtectionDomain domain;
    private final AddressHandleAttributes attributes;
    private final Path path;
    private volatile boolean isClosed;

    SoftAddressHandle(SoftProtectionDomain domain, AddressHandleAttributes attributes) {
        this.domain = domain;
        this.attributes = attributes;
        path = domain.nic().path(attributes);
    }

    @Override
    public ProtectionDomain protectionDomain() {
        return domain;
    }

    SoftProtectionDomain owner() {
        return domain;
    }

    @Override
    public AddressHandleAttributes attributes() {
        return attributes;
    }

    Path path() {
        return path;
    }

    void checkOpen() {
        if (isClosed) {
            throw new IllegalStateException("the address handle is closed");
        }
    }

    @Override
    public void close() throws RdmaException {
        domain.nic().driver().run(nowNs -> {
            if (!isClosed) {
                isClosed = true;
                domain.children().remove("address handle");
                domain.nic().totals().remove("address handle");
            }
        });
    }
}
