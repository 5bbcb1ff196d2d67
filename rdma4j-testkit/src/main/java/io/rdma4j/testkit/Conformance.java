// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.testkit;

import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.QueuePairType;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.TransportType;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.extension.ExtendWith;

import java.util.ArrayDeque;
import java.util.Deque;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * The base of all classes of the suite: the device, and objects that are closed after each test in reverse
 * order, which must succeed.
 */
@ExtendWith(ConformanceRecorder.class)
public abstract class Conformance implements DeviceUnderTest {
    private final Deque<AutoCloseable> kept = new ArrayDeque<>();
    private @Nullable String withoutEffect;

    /** Only this package has classes of the suite. */
    Conformance() {}

    @AfterEach
    void everythingCanBeClosed() throws Exception {
        Exception failure = null;
        while (!kept.isEmpty()) {
            try {
                kept.pop().close();
            } catch (Exception e) {
                if (failure == null) {
                    failure = e;
                } else {
                    failure.addSuppressed(e);
                }
            }
        }
        if (failure != null) {
            throw failure;
        }
    }

    /** {@return the object, which is closed after the test, before those kept earlier} */
    final <T extends AutoCloseable> T keep(T object) {
        kept.push(object);
        return object;
    }

    /** {@return whether the device is an iWARP device, which has only connections over TCP} */
    final boolean isIwarp() {
        return run().profile().transport() == TransportType.IWARP;
    }

    /** {@return the device, opened} */
    final DeviceContext open() throws RdmaException {
        return keep(device().open());
    }

    /** {@return two connected ends with all that they need} */
    final Players players(PlayerSettings settings) throws RdmaException {
        Connector connector = settings.type != QueuePairType.RC
                || connectionMethod() == ConnectionMethod.BY_HAND
                        ? new HandConnector(keep(device().open()), keep(peerDevice().open()))
                        : new CmConnector(this::keep, this);
        return new Players(this::keep, Thread::onSpinWait, connector,
                allocatesMemory() ? settings.memoryOfDevice() : settings, !isIwarp());
    }

    /** {@return two connected ends of a reliable connection} */
    final Players players() throws RdmaException {
        return players(new PlayerSettings());
    }

    /** Asserts that a device refuses an operation for a reason, in one line that names some words. */
    static void assertRefused(ThrowingCallable call, Errno errno, String... words) {
        RdmaException refusal = refusalOf(call);
        assertThat(refusal.errno()).as(refusal.getMessage()).isEqualTo(errno);
        assertThat(refusal.getMessage()).doesNotContain("\n");
        for (String word : words) {
            assertThat(refusal.getMessage()).contains(word);
        }
    }

    /** {@return why a device refuses an operation, which it must} */
    static RdmaException refusalOf(ThrowingCallable call) {
        return assertThatExceptionOfType(RdmaException.class).isThrownBy(call).actual();
    }

    /**
     * Ends a test of something that the device does not offer according to its attributes; a failure if its
     * profile requires it.
     */
    static void assumeOffered(boolean isOffered, String attribute) {
        if (!isOffered) {
            Assumptions.abort(attribute);
        }
    }

    /**
     * Reports that the tested option was accepted and did no harm, but that a device which ignores it would
     * have passed too.
     */
    final void reportWithoutEffect(String reason) {
        withoutEffect = reason;
    }

    /** {@return why no effect was observed, or null if the test has observed one} */
    final @Nullable String withoutEffect() {
        return withoutEffect;
    }
}
