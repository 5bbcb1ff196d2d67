// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic;

import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.QueuePairState;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.ReceiveWorkRequest;

import java.util.List;

/**
 * A device with live queue pairs of every type, and an input that says what packets reach it, what its
 * application does and how time passes.
 *
 * <p>Most packets are such that they get far: right ICRC, numbers of live queue pairs, PSNs near those that
 * are due, real keys. Whatever comes, no exception escapes and none is contained; no byte changes that the
 * peer was not given; each request completes once; afterwards a fresh connection works and everything can be
 * closed.
 */
public final class EngineFuzz {
    private static final int MAX_STEPS = 400;
    private static final int MAX_PACKETS = 100_000;
    private static final List<Long> DELAYS_NS = List.of(20_000L, 100_000L, 1_000_000L, 30_000_000L,
            300_000_000L);

    private final FuzzChoices choices;
    private final FuzzDevices devices = new FuzzDevices();
    private final FuzzPackets packets;
    private final FuzzApplication application;

    /** What the fuzzer calls. */
    public static void fuzzerTestOneInput(byte[] input) throws Exception {
        run(input, (choices, devices) -> FuzzPackets.byNetwork(devices));
    }

    /** How the packets of the input reach the devices. */
    interface Way {
        FuzzPackets.Carrier carrier(FuzzChoices choices, FuzzDevices devices);
    }

    static void run(byte[] input, Way way) throws Exception {
        ContainedDefects defects = ContainedDefects.listen();
        try {
            new EngineFuzz(input, way).run(defects);
        } finally {
            defects.close();
        }
    }

    private EngineFuzz(byte[] input, Way way) throws Exception {
        choices = new FuzzChoices(input);
        packets = new FuzzPackets(choices, devices, way.carrier(choices, devices));
        application = new FuzzApplication(choices, devices, packets);
    }

    // ---------------------------------------------------------------- what the input says

    private void run(ContainedDefects defects) throws Exception {
        for (int step = 0; step < MAX_STEPS && !choices.isOver(); step++) {
            step();
        }
        devices.elapse(1_000_000);
        end();
        devices.memory.check();
        devices.freshPairWorks();
        defects.assertNone();
        devices.closeAll();
        if (devices.simulation.network.packets() > MAX_PACKETS) {
            throw new AssertionError(
                    devices.simulation.network.packets() + " packets were answered");
        }
    }

    private void step() throws RdmaException {
        switch (choices.below(16)) {
            case 0, 1, 2, 3, 4, 5 -> packets.inject(choices.of(devices.targets));
            case 6 -> packets.injectManagement();
            case 7 -> packets.injectBytes();
            case 8, 9, 10 -> attempt(application::postSend);
            case 11 -> attempt(application::postReceive);
            case 12 -> devices.elapse(choices.of(DELAYS_NS));
            case 13 -> attempt(application::changeState);
            case 14 -> attempt(application::changeMemory);
            default -> {
                int lost = choices.below(4);
                devices.simulation.network.loss = lost / 4.0;
            }
        }
    }

    private interface Action {
        void run() throws RdmaException;
    }

    /** A refusal is as good as success; any other exception is a finding. */
    private static void attempt(Action action) {
        try {
            action.run();
        } catch (RdmaException refused) {
            // It says so to the application, which is the input here.
        }
    }

    // ---------------------------------------------------------------- the end

    /** Everything posted completes exactly once when the queue pairs end. */
    private void end() throws RdmaException {
        for (FuzzDevices.Target target : devices.targets) {
            if (target.queuePair().state() != QueuePairState.RESET) {
                target.queuePair().modify(new QueuePairAttributes().state(QueuePairState.ERR));
                devices.takeCompletions();
                devices.ledger.assertFlushed(target.queuePair().number());
            }
        }
        devices.simulation.network.loss = 0;
        devices.elapse(1_000_000_000);
        int room = 0;
        try {
            while (true) {
                devices.sharedReceives.post(new ReceiveWorkRequest());
                room++;
            }
        } catch (RdmaException full) {
            // What a queue pair had taken when it was reset vanishes with it.
            int vanished = room + devices.ledger.sharedLeft() - FuzzDevices.SHARED_DEPTH;
            if (vanished < 0 || vanished > application.sharedResets()) {
                throw new AssertionError("of the shared receives " + devices.ledger.sharedLeft()
                        + " have not completed, and there is room for " + room, full);
            }
        }
    }
}
