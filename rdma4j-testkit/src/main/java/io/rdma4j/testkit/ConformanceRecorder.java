// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.testkit;

import io.rdma4j.testkit.ConformanceReport.Outcome;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.extension.AfterTestExecutionCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;
import org.junit.jupiter.api.extension.LifecycleMethodExecutionExceptionHandler;
import org.junit.jupiter.api.extension.TestExecutionExceptionHandler;
import org.junit.jupiter.api.extension.TestWatcher;
import org.opentest4j.TestAbortedException;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Determines and records the result of each case: an unsupported case is a failure if the device's profile requires it, and
 * otherwise no result. Writes the report at the end of a test run in which every run of the suite in the report has executed
 * all its cases; a run of only some tests leaves the report unchanged.
 *
 * <p>The system property {@code rdma4j.conformance.report} names the file of the report; without it no report is written.
 */
public final class ConformanceRecorder
        implements
            BeforeEachCallback,
            AfterTestExecutionCallback,
            TestExecutionExceptionHandler,
            LifecycleMethodExecutionExceptionHandler,
            TestWatcher {
    private static final String REPORT = "rdma4j.conformance.report";
    /** The start of the reason for a case that was not tested and not required; the build recognizes it by these words. */
    private static final String NOT_REQUIRED = "not required of this device: ";
    private static final Namespace NAMESPACE = Namespace.create(ConformanceRecorder.class);
    private static final ConformanceReport RESULTS = new ConformanceReport();

    /** By the test's unique id: when a test has ended its instance may be gone. */
    private static final Map<String, UnderTest> TESTED = new ConcurrentHashMap<>();
    private static final Map<String, String> WITHOUT_EFFECT = new ConcurrentHashMap<>();

    /** Called by the platform. */
    public ConformanceRecorder() {}

    @Override
    public void beforeEach(ExtensionContext context) {
        if (context.getRequiredTestInstance() instanceof UnderTest tested) {
            TESTED.put(context.getUniqueId(), tested);
        }
        context.getRoot().getStore(NAMESPACE).computeIfAbsent(RunEnd.class, key -> new RunEnd());
    }

    @Override
    public void afterTestExecution(ExtensionContext context) {
        if (context.getRequiredTestInstance() instanceof Conformance test) {
            String reason = test.withoutEffect();
            if (reason != null) {
                WITHOUT_EFFECT.put(context.getUniqueId(), reason);
            }
        }
    }

    @Override
    public void handleTestExecutionException(ExtensionContext context, Throwable failure)
            throws Throwable {
        decide(context, failure);
    }

    @Override
    public void handleBeforeEachMethodExecutionException(ExtensionContext context,
            Throwable failure) throws Throwable {
        decide(context, failure);
    }

    /** An unsupported case is a failure only if the profile requires it. */
    private static void decide(ExtensionContext context, Throwable failure) throws Throwable {
        String missing = missing(failure);
        if (!isCase(context) || missing == null
                || !(context.getRequiredTestInstance() instanceof UnderTest tested)) {
            throw failure;
        }
        ConformanceProfile profile = tested.run().profile();
        String test = ConformanceEntry.nameOf(context.getRequiredTestMethod());
        if (profile.requires(test)) {
            throw new AssertionError("a device of the profile " + profile.text() + " must pass "
                    + test + "; this one does not offer it: " + missing, failure);
        }
        Assumptions.abort(NOT_REQUIRED + missing);
    }

    /** {@return what the device does not support, or null for any other failure} */
    private static @Nullable String missing(Throwable failure) {
        boolean isMissing = failure instanceof TestAbortedException
                || (failure instanceof RdmaException refusal
                        && refusal.errno() == Errno.EOPNOTSUPP);
        return isMissing ? String.valueOf(failure.getMessage()) : null;
    }

    @Override
    public void testSuccessful(ExtensionContext context) {
        String reason = WITHOUT_EFFECT.remove(context.getUniqueId());
        if (reason == null) {
            record(context, Outcome.PASSED, "");
        } else {
            record(context, Outcome.WITHOUT_EFFECT, reason);
        }
    }

    @Override
    public void testFailed(ExtensionContext context, @Nullable Throwable cause) {
        record(context, Outcome.FAILED, "");
    }

    @Override
    public void testAborted(ExtensionContext context, @Nullable Throwable cause) {
        String reason = cause == null || cause.getMessage() == null ? "" : cause.getMessage();
        record(context, Outcome.NOT_SUPPORTED,
                reason.startsWith(NOT_REQUIRED) ? reason.substring(NOT_REQUIRED.length()) : reason);
    }

    private static void record(ExtensionContext context, Outcome outcome, String reason) {
        UnderTest tested = TESTED.remove(context.getUniqueId());
        if (tested != null && isCase(context)) {
            RESULTS.expect(tested.reportedRuns());
            RESULTS.add(tested.run(), ConformanceEntry.nameOf(context.getRequiredTestMethod()),
                    outcome, reason);
        }
    }

    private static boolean isCase(ExtensionContext context) {
        return context.getRequiredTestMethod().isAnnotationPresent(ConformanceCase.class);
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
