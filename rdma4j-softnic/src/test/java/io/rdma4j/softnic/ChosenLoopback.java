package io.rdma4j.softnic;

import io.rdma4j.softnic.device.SoftNicOptions;
import io.rdma4j.softnic.options.Loopback;
import io.rdma4j.softnic.options.NetworkBackend;
import io.rdma4j.softnic.roce.RoceFamily;
import io.rdma4j.verbs.RdmaException;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

import java.util.ArrayDeque;
import java.util.Deque;

import static org.assertj.core.api.Assumptions.assumeThat;

/** Devices that a test class opens send their packets to themselves in one way, whatever the build asks for. */
abstract class ChosenLoopback implements BeforeAllCallback, AfterAllCallback {
    private static final String PROPERTY = "rdma4j.loopback";
    private final Loopback choice;
    /** One for each class under way: nested classes are announced as well. */
    private final Deque<String> before = new ArrayDeque<>();

    ChosenLoopback(Loopback choice) {
        this.choice = choice;
    }

    @Override
    public void beforeAll(ExtensionContext context) {
        before.push(System.getProperty(PROPERTY, Loopback.AUTO.text()));
        System.setProperty(PROPERTY, choice.text());
    }

    @Override
    public void afterAll(ExtensionContext context) {
        System.setProperty(PROPERTY, before.pop());
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
        public void beforeAll(ExtensionContext context) {
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
