// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic;

import io.rdma4j.cm.CmId;
import io.rdma4j.connection.PortSpace;
import io.rdma4j.softnic.device.SoftNicOptions;
import io.rdma4j.softnic.options.Loopback;
import io.rdma4j.softnic.options.NetworkBackend;
import io.rdma4j.softnic.roce.RoceFamily;
import io.rdma4j.verbs.RdmaException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

import java.net.InetSocketAddress;
import java.util.ArrayDeque;
import java.util.Deque;

import static org.assertj.core.api.Assumptions.assumeThat;

/**
 * Devices that a test class opens send their packets to themselves in one way, whatever the build asks for, and are at an
 * address of their own: where other processes close their devices, packets are lost now and then (ADR 43), which unreliable
 * services do not repeat.
 */
abstract class ChosenLoopback implements BeforeAllCallback, AfterAllCallback {
    private static final String PROPERTY = "rdma4j.loopback";
    private final Loopback choice;
    /** One for each class under way: nested classes are announced as well. */
    private final Deque<String> before = new ArrayDeque<>();
    private @Nullable CmId holder;

    ChosenLoopback(Loopback choice) {
        this.choice = choice;
    }

    @Override
    public void beforeAll(ExtensionContext context) throws RdmaException {
        before.push(System.getProperty(PROPERTY, Loopback.AUTO.text()));
        System.setProperty(PROPERTY, choice.text());
        if (holder == null) {
            CmId id = CmId.create(PortSpace.TCP);
            holder = id;
            // The device is opened with this one address, and every later opening shares it.
            id.bindAddress(new InetSocketAddress(CmStage.OWN, 0));
        }
    }

    @Override
    public void afterAll(ExtensionContext context) throws RdmaException {
        String earlier = before.poll();
        if (earlier != null) { // null if the class was skipped before
            System.setProperty(PROPERTY, earlier);
        }
        CmId id = holder;
        if (id != null && before.isEmpty()) {
            holder = null;
            id.close();
        }
    }

    /** From memory to memory. */
    static final class Direct extends ChosenLoopback {
        Direct() {
            super(Loopback.DIRECT);
        }
    }

    /** Through memory that processes share; where there is none, not at all. */
    static final class Shared extends ChosenLoopback {
        Shared() {
            super(Loopback.SHARED);
        }

        @Override
        public void beforeAll(ExtensionContext context) throws RdmaException {
            try {
                assumeThat(RoceFamily.choice(SoftNicOptions.ofSystem().device().backend()).kind())
                        .isEqualTo(NetworkBackend.LINUX);
            } catch (RdmaException e) {
                throw new IllegalStateException(e);
            }
            super.beforeAll(context);
        }
    }

    /** Through the system. */
    static final class Network extends ChosenLoopback {
        Network() {
            super(Loopback.NETWORK);
        }
    }
}
