// SPDX-License-Identifier: Apache-2.0
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import javax.xml.parsers.DocumentBuilderFactory;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;

/**
 * Fails the build if a test was skipped: the reports that surefire has written know them all. Cases of the conformance suite
 * that a device need not offer are counted instead; its table names them.
 * A test that this system cannot run at all is to be left out by its tag instead, so that nobody takes it for one
 * that ran.
 *
 * <p>Run for each module by {@code mvn verify -P no-skips}, as {@code java NoSkips.java SOURCES REPORTS}: the
 * directory of the module's tests and that of their reports.
 */
final class NoSkips {
    private static final int SHOWN = 50;
    /** As the recorder of the conformance suite begins its reasons. */
    private static final String NOT_REQUIRED = "not required of this device: ";

    private static int notRequired;

    private NoSkips() {}

    public static void main(String[] arguments) throws Exception {
        Path sources = Path.of(arguments[0]);
        Path reports = Path.of(arguments[1]);
        if (!Files.isDirectory(sources)) {
            return;
        }
        List<String> skipped = new ArrayList<>();
        int tests = Files.isDirectory(reports) ? read(reports, skipped) : 0;
        if (tests == 0) {
            fail("no test has run, though there are some in " + sources);
        }
        if (!skipped.isEmpty()) {
            skipped.stream().limit(SHOWN).forEach(System.err::println);
            fail(skipped.size() + " of " + tests + " tests were skipped; see above what each of them needs");
        }
        System.out.println("none of " + tests + " tests was skipped" + (notRequired == 0 ? ""
                : ", but for " + notRequired + " conformance cases that a device need not offer"));
    }

    private static void fail(String reason) {
        System.err.println(reason);
        System.exit(1);
    }

    /** Adds the skipped tests of all reports. {@return how many tests there are} */
    private static int read(Path reports, List<String> skipped) throws Exception {
        int tests = 0;
        try (DirectoryStream<Path> files = Files.newDirectoryStream(reports, "TEST-*.xml")) {
            for (Path file : files) {
                NodeList cases = cases(file);
                tests += cases.getLength();
                for (int i = 0; i < cases.getLength(); i++) {
                    addIfSkipped((Element) cases.item(i), skipped);
                }
            }
        }
        return tests;
    }

    private static NodeList cases(Path file) throws Exception {
        try {
            return DocumentBuilderFactory.newInstance().newDocumentBuilder().parse(file.toFile())
                    .getElementsByTagName("testcase");
        } catch (IOException e) {
            throw new IOException(file + " cannot be read", e);
        }
    }

    private static void addIfSkipped(Element test, List<String> skipped) {
        NodeList marks = test.getElementsByTagName("skipped");
        if (marks.getLength() > 0) {
            Element mark = (Element) marks.item(0);
            // A condition leaves its reason as message, an assumption as the text of its exception.
            String reason = mark.getAttribute("message") + mark.getTextContent().strip();
            if (reason.contains(NOT_REQUIRED)) {
                notRequired++;
                return;
            }
            skipped.add("skipped: " + test.getAttribute("classname") + '#' + test.getAttribute("name")
                    + (reason.isEmpty() ? "" : ": " + reason.lines().findFirst().orElse("")));
        }
    }
}
