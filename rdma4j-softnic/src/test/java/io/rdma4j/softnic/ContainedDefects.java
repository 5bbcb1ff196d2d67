// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic;

import io.rdma4j.softnic.engine.Engine;
import org.jspecify.annotations.Nullable;

import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;

/**
 * Collects the defects that the engine survives: it logs them and fails only the queue pair. To a test they
 * are failures.
 */
public final class ContainedDefects extends Handler {
    /** Held, or the logging system would forget the handler with the logger. */
    private static final Logger LOGGER = Logger.getLogger(Engine.class.getName());

    private volatile @Nullable LogRecord first;

    /** {@return one that collects every defect from now on, until {@link #close}} */
    public static ContainedDefects listen() {
        ContainedDefects defects = new ContainedDefects();
        LOGGER.addHandler(defects);
        LOGGER.setUseParentHandlers(false);
        return defects;
    }

    public void assertNone() {
        LogRecord found = first;
        if (found != null) {
            throw new AssertionError(found.getMessage(), found.getThrown());
        }
    }

    /** {@return whether there was one} */
    public boolean isAny() {
        return first != null;
    }

    @Override
    public void publish(LogRecord defect) {
        if (first == null) {
            first = defect;
        }
    }

    @Override
    public void flush() {}

    @Override
    public void close() {
        LOGGER.removeHandler(this);
        LOGGER.setUseParentHandlers(true);
    }
}
