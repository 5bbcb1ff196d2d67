// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.engine;

import org.jspecify.annotations.Nullable;

import java.util.function.Supplier;

/**
 * Logs what happens while a thread has an engine. What the log does with it belongs to the program, and may fail; that is no failure of
 * the queue pair or the device that it is about.
 */
public final class EngineLog {
    private EngineLog() {}

    /** Logs, if that can be done. */
    public static void log(System.Logger logger, System.Logger.Level level, Supplier<String> text,
            @Nullable Throwable cause) {
        try {
            if (cause == null) {
                logger.log(level, text);
            } else {
                logger.log(level, text, cause);
            }
        } catch (RuntimeException | Error notLogged) {
            // There is nowhere to say it.
        }
    }
}
