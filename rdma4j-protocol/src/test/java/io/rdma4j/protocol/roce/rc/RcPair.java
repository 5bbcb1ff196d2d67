// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.protocol.roce.rc;

import io.rdma4j.protocol.roce.RoundTripEstimate;
import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.Mtu;
import io.rdma4j.verbs.QueuePairState;

import java.util.EnumSet;
import java.util.Set;

/** Two ends of a reliable connection on a wire in virtual time: a test makes them, acts, {@link #settle}s and asserts. */
final class RcPair {
    static final long MS = 1_000_000;
    static final long SECOND = 1_000 * MS;

    final Settings settings;
    final Wire wire;
    final RcEnd a;
    final RcEnd b;

    /** How a test wants its pair. */
    static final class Settings {
        /** Two below the end of the 24 bits, so that they wrap around in every test. */
        int firstPsn = 0xfffffe;
        Mtu mtu = Mtu.MTU_1024;
        int timeout = 14;
        int retryCount = 7;
        int rnrRetry = 7;
        int minRnrTimer = 12;
        int readAtomic = 4;
        int readsServed = 4;
        boolean hasSharedReceives;
        QueuePairState stateOfA = QueuePairState.RTS;
        QueuePairState stateOfB = QueuePairState.RTS;
        Set<AccessFlag> access = EnumSet.of(AccessFlag.REMOTE_READ, AccessFlag.REMOTE_WRITE,
                AccessFlag.REMOTE_ATOMIC, AccessFlag.FLUSH_GLOBAL, AccessFlag.FLUSH_PERSISTENT);

        long timeoutNs() {
            return 4096L << timeout;
        }
    }

    /** What the queue pairs between two devices share. */
    static final class Devices {
        final Wire wire = new Wire();
        private final RoundTripEstimate fromA = new RoundTripEstimate();
        private final RoundTripEstimate fromB = new RoundTripEstimate();
        private int pairs;
    }

    RcPair() {
        this(new Settings());
    }

    RcPair(Settings settings) {
        this(settings, new Devices());
    }

    /** Makes one more pair between two devices. */
    RcPair(Settings settings, Devices devices) {
        this.settings = settings;
        wire = devices.wire;
        int number = ++devices.pairs;
        a = new RcEnd(wire, "a", number, settings.hasSharedReceives, devices.fromA);
        b = new RcEnd(wire, "b", number, settings.hasSharedReceives, devices.fromB);
        a.bringTo(settings.stateOfA, b, settings);
        b.bringTo(settings.stateOfB, a, settings);
    }

    /** Lets both ends work until nothing is left to do. */
    void settle() {
        wire.settle();
    }

    /** Lets both ends work for a time. */
    void run(long durationNs) {
        wire.run(durationNs);
    }
}
