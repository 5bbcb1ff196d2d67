// SPDX-License-Identifier: Apache-2.0
import java.io.File;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Mutation testing: pitest changes each package, one small mistake after the other, and counts how many the tests notice. Fails
 * if a package falls below its threshold. What survives is in {@code target/pit-reports}; much of it is equivalent, such as a
 * buffer that is cleared earlier than it must be. A threshold goes up when tests get better.
 *
 * <p>Run by {@code mvn verify -P mutation}, as {@code java Mutation.java MODULE THREADS [PACKAGE...]}: the directory of the
 * module, how many mutants are tested at a time, and packages of the table, if not all of them are meant. It takes from a
 * minute to half an hour for each. Not a plugin of Maven, which would run the tests on Maven's own JDK.
 */
final class Mutation {
    /**
     * What is changed, and which tests have to notice.
     *
     * @param module the module's directory
     * @param name of the package, behind that of the module; the report is in a folder of that name
     * @param threshold the least share of mutants that is noticed, in percent
     * @param classes the classes that are changed, or patterns of them, behind the name of the module
     * @param tests the same for tests
     */
    private record Row(String module, String name, int threshold, List<String> classes, List<String> tests) {
        boolean isOf(Path directory, List<String> names) {
            return directory.endsWith(module) && (names.isEmpty() || names.contains(name));
        }

        private String list(List<String> patterns) {
            String prefix = "io.rdma4j." + module.substring("rdma4j-".length()) + ".";
            return String.join(",", patterns.stream().map(p -> prefix + p).toList());
        }
    }

    private static final String PROTOCOL = "rdma4j-protocol";
    private static final String SOFTNIC = "rdma4j-softnic";
    private static final String SOCKETS = "rdma4j-sockets";

    /** The tests that state behaviour quickly: random inputs state none, and races are for other compilers. */
    private static final List<Row> ROWS = List.of(
            new Row(PROTOCOL, "roce.rc", 88, List.of("roce.rc.*"), List.of("roce.*Test")),
            new Row(PROTOCOL, "roce.unreliable", 90, List.of("roce.unreliable.*"), List.of("roce.*Test")),
            new Row(PROTOCOL, "roce.wire", 96, List.of("roce.wire.*"), List.of("*Test")),
            new Row(PROTOCOL, "work", 85, List.of("work.*"), List.of("*Test")),
            new Row(PROTOCOL, "ibcm", 92, List.of("ibcm.*"), List.of("ibcm.*Test")),
            new Row(PROTOCOL, "iwarp", 90, List.of("iwarp.Iwarp*", "iwarp.Mpa*", "iwarp.*Reads*"),
                    List.of("iwarp.*Test")),
            new Row(PROTOCOL, "iwarp.wire", 95, List.of("iwarp.wire.*"), List.of("iwarp.*Test")),
            new Row(SOFTNIC, "queue", 89, List.of("queue.*"),
                    List.of("queue.*Test", "PostErrorTest", "SharedReceiveQueueTest", "CompletionEndTest")),
            new Row(SOFTNIC, "network.ring", 86, List.of("network.ring.*"),
                    List.of("network.ring.*Test", "network.linux.memory.HostMemoryTest")),
            new Row(SOFTNIC, "network.linux.sharing", 71,
                    List.of("network.linux.sharing.SharedTable*", "network.linux.sharing.MailboxTable*",
                            "network.linux.sharing.Prefixes*", "network.linux.sharing.ServicePorts*"),
                    List.of("network.linux.sharing.*Test", "network.linux.memory.HostMemoryTest")),
            new Row(SOCKETS, "sockets.protocol", 80, List.of("protocol.*"), List.of("protocol.*Test")));

    private Mutation() {}

    public static void main(String[] arguments) throws Exception {
        Path module = Path.of(arguments[0]).toAbsolutePath();
        List<String> names = Arrays.stream(arguments).skip(2).flatMap(a -> Arrays.stream(a.split("[, ]+")))
                .filter(n -> !n.isEmpty()).toList();
        List<Row> rows = ROWS.stream().filter(row -> row.isOf(module, names)).toList();
        List<String> below = new ArrayList<>();
        for (Row row : rows) {
            if (run(module, arguments[1], row) != 0) {
                below.add(row.name + " (" + row.threshold + " %)");
            }
        }
        if (!below.isEmpty()) {
            System.err.println("too few mutants are noticed of " + String.join(", ", below));
            System.exit(1);
        }
        System.out.println("enough mutants are noticed of "
                + (rows.isEmpty() ? "nothing" : String.join(", ", rows.stream().map(Row::name).toList())));
    }

    private static int run(Path module, String threads, Row row) throws Exception {
        System.out.println("mutants of " + row.name);
        String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
        return new ProcessBuilder(java, "-cp", System.getProperty("java.class.path"),
                "org.pitest.mutationtest.commandline.MutationCoverageReport",
                "--reportDir", module.resolve("target/pit-reports").resolve(row.name).toString(),
                "--targetClasses", row.list(row.classes), "--targetTests", row.list(row.tests),
                "--excludedTestClasses", "*FuzzCorpusTest,*RaceTest", "--excludedGroups", "long,stress",
                "--sourceDirs", module.resolve("src/main/java").toString(),
                "--mutableCodePaths", module.resolve("target/classes").toString(),
                "--mutators", "STRONGER", "--threads", threads, "--timeoutConst", "3000", "--timeoutFactor", "1.5",
                "--outputFormats", "XML,HTML", "--timestampedReports=false",
                "--mutationThreshold", Integer.toString(row.threshold), "--jvmPath", java,
                // A mutant may access memory that is not there, and end the JVM by that.
                "--jvmArgs=-ea,--enable-native-access=ALL-UNNAMED,-XX:TieredStopAtLevel=1,-XX:+UseSerialGC,-XX:ErrorFile="
                        + module.resolve("target/hs_err_mutant.log"))
                .directory(new File(module.toString())).inheritIO().start().waitFor();
    }
}
