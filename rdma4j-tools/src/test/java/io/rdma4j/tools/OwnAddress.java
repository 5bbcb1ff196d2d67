// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools;

import io.rdma4j.cm.CmId;
import io.rdma4j.connection.PortSpace;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.Gid;
import io.rdma4j.verbs.RdmaException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.Objects;

/**
 * The device of this process has {@link Loopback#OWN} while the tests of a class run, and commands choose it by
 * {@link #by}. At 127.0.0.1, from which sides reach each other by themselves, there are the processes of other tests as
 * well; when one of them ends, packets of its neighbours may be misdirected, which unreliable services do not repeat.
 */
final class OwnAddress implements BeforeAllCallback, AfterAllCallback {
    /** The GID that is the address, by its index; classes of one JVM run one after the other. */
    private static @Nullable Integer gidIndex;

    private @Nullable CmId holder;

    /** {@return the option for the address, with a space before it, of a command in this process} */
    static String by(String option) {
        return " " + option + " " + Objects.requireNonNull(gidIndex, "no test with an own address");
    }

    @Override
    public void beforeAll(ExtensionContext context) throws RdmaException {
        CmId id = CmId.create(PortSpace.TCP);
        holder = id;
        // The device is opened with this one address, and every later opening shares it.
        id.bindAddress(new InetSocketAddress(Loopback.OWN, 0));
        gidIndex = indexOf(id.context(), Gid.of(InetAddress.ofLiteral(Loopback.OWN)));
    }

    private static int indexOf(DeviceContext context, Gid wanted) throws RdmaException {
        return context.queryGidTable().stream().filter(entry -> entry.gid().equals(wanted))
                .findFirst().orElseThrow().index();
    }

    @Override
    public void afterAll(ExtensionContext context) throws RdmaException {
        gidIndex = null;
        CmId id = holder;
        if (id != null) {
            id.close();
        }
    }
}
