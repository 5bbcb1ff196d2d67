// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.testkit;

import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import java.util.logging.SimpleFormatter;
import java.util.stream.Stream;

/**
 * What classes log during a test, instead of on the console. A test has it as a field with {@code @RegisterExtension}.
 * Thread safe.
 */
public final class LogLines implements BeforeEachCallback, AfterEachCallback {
    /** Held, or the logging system would forget the handlers with the loggers. */
    private final List<Logger> loggers;
    private final List<LogRecord> records = new CopyOnWriteArrayList<>();
    private final SimpleFormatter formatter = new SimpleFormatter();
    private final Handler handler = new Handler() {
        @Override
        public void publish(LogRecord line) {
            records.add(line);
        }

        @Override
        public void flush() {}

        @Override
        public void close() {}
    };

    private LogLines(List<Logger> loggers) {
        this.loggers = loggers;
    }

    /** {@return what these classes log, each by the logger of its own name} */
    public static LogLines of(Class<?>... classes) {
        return of(Stream.of(classes).map(Class::getName).toArray(String[]::new));
    }

    /** {@return what is logged by the loggers of these names} */
    public static LogLines of(String... loggers) {
        return new LogLines(Stream.of(loggers).map(Logger::getLogger).toList());
    }

    @Override
    public void beforeEach(ExtensionContext context) {
        loggers.forEach(each -> {
            each.setUseParentHandlers(false);
            each.addHandler(handler);
        });
    }

    @Override
    public void afterEach(ExtensionContext context) {
        loggers.forEach(each -> {
            each.removeHandler(handler);
            each.setUseParentHandlers(true);
        });
    }

    /** {@return every line so far: its level, a space and its text} */
    public List<String> lines() {
        return records.stream().map(each -> each.getLevel() + " " + formatter.formatMessage(each))
                .toList();
    }

    /** {@return every record so far} */
    public List<LogRecord> records() {
        return List.copyOf(records);
    }
}
