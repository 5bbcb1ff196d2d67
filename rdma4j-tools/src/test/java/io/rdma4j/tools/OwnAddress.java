// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools;

import io.rdma4j.cm.CmId;
import io.rdma4j.connection.PortSpace;
import io.rdma4j.verbs.RdmaException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

import java.net.InetSocketAddress;

/**
 * Commands in this process are at {@link Loopback#OWN} while the tests of a class run. At 127.0.0.1 there are the processes of
 * other tests as well; when one of them is killed, packets of its neighbours may be misdirected, which unreliable services do
 * not repeat.
 */
final class OwnAddress implements BeforeAllCallback, AfterAllCallback {
    private @Nullable CmId holder;

    @Override
    public void beforeAll(ExtensionContext context) throws RdmaException {
        CmId id = CmId.create(PortSpace.TCP);
        holder = id;
        // The device is opened with this one address, and every later opening shares it.
        id.bindAddress(new InetSocketAddress(Loopback.OWN, 0));
    }

    @Override
    public void afterAll(ExtensionContext context) throws RdmaException {
        CmId id = holder;
        if (id != null) {
            id.close();
        }
    }
}
