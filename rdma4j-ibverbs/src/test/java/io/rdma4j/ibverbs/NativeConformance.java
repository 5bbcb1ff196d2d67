// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.ibverbs;

import io.rdma4j.verbs.RdmaException;
import org.junit.platform.engine.FilterResult;
import org.junit.platform.engine.TestDescriptor;
import org.junit.platform.engine.discovery.DiscoverySelectors;
import org.junit.platform.launcher.LauncherDiscoveryRequest;
import org.junit.platform.launcher.PostDiscoveryFilter;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;

import java.util.regex.Pattern;

/**
 * Runs the conformance suite on a device of the system, and tells of each case as it comes, so that the last line
 * names the case that has ended the JVM, if one does.
 *
 * <p>{@code java -Drdma4j.test.native.device=rxe0 -Drdma4j.test.native.address=10.77.0.11
 * -Drdma4j.conformance.report=FILE io.rdma4j.ibverbs.NativeConformance [REGEX]}: without a regular expression all
 * cases, with one those whose {@code Class#method} it is found in; the report is written when all were run.
 */
public final class NativeConformance {
    /** Above what the suite itself waits for at most, on a machine that is emulated. */
    private static final String LIMIT = "120 s";
    private static final int FAILED = 1;
    private static final int UNUSABLE = 2;

    private NativeConformance() {}

    /** Ends with status 0 if no case has failed, 1 if some have, 2 if none was run. */
    public static void main(String[] arguments) {
        try {
            NativeSubject subject = NativeSubject.ofSystem();
            System.out.println("conformance of " + subject.run().device() + " at "
                    + subject.address().getHostAddress() + ", profile "
                    + subject.run().profile().text());
        } catch (RdmaException e) {
            System.err.println(e.getMessage());
            System.exit(UNUSABLE);
        }
        CasePrinter printer = new CasePrinter(System.out);
        LauncherFactory.create().execute(request(arguments.length == 0 ? "" : arguments[0]),
                printer);
        printer.printSummary();
        // A test that was given up may still have a thread.
        System.exit(printer.cases() == 0 ? UNUSABLE : printer.hasFailures() ? FAILED : 0);
    }

    private static LauncherDiscoveryRequest request(String only) {
        Pattern wanted = Pattern.compile(only);
        PostDiscoveryFilter filter = test -> FilterResult.includedIf(isWanted(test, wanted));
        return LauncherDiscoveryRequestBuilder.request()
                .selectors(DiscoverySelectors.selectClass(NativeConformanceSuite.class))
                .filters(filter)
                .configurationParameter("junit.jupiter.execution.timeout.default", LIMIT)
                // A call of the system's library that never returns does not stop the rest.
                .configurationParameter(
                        "junit.jupiter.execution.timeout.thread.mode.default",
                        "SEPARATE_THREAD")
                .configurationParameter("junit.jupiter.execution.timeout.threaddump.enabled",
                        "true")
                .build();
    }

    private static boolean isWanted(TestDescriptor test, Pattern wanted) {
        return !test.isTest() || wanted.matcher(CasePrinter.nameOf(test.getSource())).find();
    }
}
