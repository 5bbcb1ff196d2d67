// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.verbs;

import io.rdma4j.device.ObjectKind;
import io.rdma4j.device.ResourceText;
import io.rdma4j.protocol.work.Route;
import io.rdma4j.verbs.AddressHandle;
import io.rdma4j.verbs.AddressHandleAttributes;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.RdmaClosedException;
import io.rdma4j.verbs.RdmaException;

/** The destination of datagrams. */
final class SoftAddressHandle implements AddressHandle {
    private final SoftDomainServices domain;
    private final AddressHandleAttributes attributes;
    private final Route route;
    private volatile boolean isClosed;

    SoftAddressHandle(SoftDomainServices domain, AddressHandleAttributes attributes,
            Route route) {
        this.domain = domain;
        this.attributes = attributes;
        this.route = route;
    }

    @Override
    public ProtectionDomain protectionDomain() {
        return domain.domain();
    }

    SoftDomainServices owner() {
        return domain;
    }

    @Override
    public AddressHandleAttributes attributes() {
        return attributes;
    }

    Route route() {
        return route;
    }

    void checkOpen() throws RdmaException {
        if (isClosed) {
            throw RdmaClosedException.of("address handle");
        }
    }

    @Override
    public void close() throws RdmaException {
        domain.nic().driver().run(nowNs -> {
            if (!isClosed) {
                isClosed = true;
                domain.remove(ObjectKind.ADDRESS_HANDLE, ObjectKind.ADDRESS_HANDLE, this);
            }
        });
    }

    @Override
    public String toString() {
        return ResourceText.of(this);
    }
}
