// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.event;

import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.nio.channels.SelectableChannel;

/**
 * The channel that an application selects on, made when it asks for one. One caller at a time, but for
 * {@link #isAskedFor}.
 */
final class Selectable<X extends Exception> {
    private final WaitFailures<X> failures;
    private volatile @Nullable Readiness readiness;

    Selectable(WaitFailures<X> failures) {
        this.failures = failures;
    }

    /** {@return the channel, always the same unless the application has closed it} */
    SelectableChannel channel() throws X {
        Readiness present = readiness;
        if (present != null && !present.isOpen()) {
            // The application has closed one end.
            present.close();
            present = null;
        }
        if (present == null) {
            try {
                present = Readiness.open();
            } catch (IOException e) {
                throw failures.noPipe(e);
            }
            readiness = present;
        }
        return present.channel();
    }

    boolean isAskedFor() {
        return readiness != null;
    }

    void show(boolean isReady) {
        Readiness present = readiness;
        if (present != null) {
            present.show(isReady);
        }
    }

    void close() {
        Readiness present = readiness;
        if (present != null) {
            present.close();
        }
    }
}
