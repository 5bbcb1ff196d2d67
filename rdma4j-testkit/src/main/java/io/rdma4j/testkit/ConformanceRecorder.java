package io.rdma4j.testkit;

import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.TestExecutionExceptionHandler;
import org.junit.jupiter.api.extension.TestWatcher;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Notes how each case ends on each device, and writes the report when a run has ended in which every
 * device that took part met every case. A run of some tests alone leaves the report as it is.
 *
 * <p>The report goes to the file that the system property {@code rdma4j.conformance.report} names, and
 * nowhere without it.
 */
public final class ConformanceRecorder
        implements
            BeforeEachCallback,
            TestExecutionExceptionHandler,
            TestWatcher {
    private static final String REPORT = "rdma4j.conformance.report";
    private static final Namespace NAMESPACE = Namespace.create(ConformanceRecorder.class);
    private static final ConformanceReport RESULTS = new ConformanceReport();

    /** By the test's unique id: when a test has ended its instance may be gone. */
    private static final Map<String, String> DEVICES = new ConcurrentHashMap<>();

    /** Called by the platform. */
    public ConformanceRecorder() {}

    @Override
    public void beforeEach(ExtensionContext context) {
        if (context.getRequiredTestInstance() instanceof UnderTest device) {
            DEVICES.put(context.getUniqueId(), device.deviceName());
        }
        context.getRoot().getStore(NAMESPACE).computeIfAbsent(RunEnd.class, key -> new RunEnd());
    }

    /** What a device says it does not offer is a failure only where it must be offered. */
    @Override
    public void handleTestExecutionException(ExtensionContext context, Throwable failure)
            throws Throwable {
        ConformanceCase known = conformanceCase(context);
        if (known != null && failure instanceof RdmaException refusal
                && refusal.errno() == Errno.EOPNOTSUPP
                && context.getRequiredTestInstance() instanceof UnderTest device
                && !device.requires(known)) {
            Assumptions.abort(String.valueOf(refusal.getMessage()));
        }
        throw failure;
    }

    @Override
    public void testSuccessful(ExtensionContext context) {
        record(context, ConformanceReport.Outcome.PASSED, "");
    }

    @Override
    public void testFailed(ExtensionContext context, @Nullable Throwable cause) {
        record(context, ConformanceReport.Outcome.FAILED, "");
    }

    @Override
    public void testAborted(ExtensionContext context, @Nullable Throwable cause) {
        String reason = cause == null || cause.getMessage() == null ? "" : cause.getMessage();
        record(context, ConformanceReport.Outcome.NOT_SUPPORTED, reason);
    }

    private static void record(ExtensionContext context, ConformanceReport.Outcome outcome,
            String reason) {
        String device = DEVICES.remove(context.getUniqueId());
        if (device != null && conformanceCase(context) != null) {
            RESULTS.add(device, ConformanceSuite.nameOf(context.getRequiredTestMethod()), outcome,
                    reason);
        }
    }

    private static @Nullable ConformanceCase conformanceCase(ExtensionContext context) {
        return context.getRequiredTestMethod().getAnnotation(ConformanceCase.class);
    }

    /** Closed by the platform when all tests of a run have ended. */
    private static final class RunEnd implements AutoCloseable {
        @Override
        public void close() throws IOException {
            String file = System.getProperty(REPORT);
            if (file != null && RESULTS.isComplete()) {
                Files.writeString(Path.of(file), RESULTS.text());
            }
        }
    }
}
