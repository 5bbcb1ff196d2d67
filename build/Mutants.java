// SPDX-License-Identifier: Apache-2.0
import java.io.IOException;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import javax.tools.Diagnostic;
import javax.tools.DiagnosticCollector;
import javax.tools.ForwardingJavaFileManager;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileManager;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;
import org.junit.platform.engine.DiscoverySelector;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.discovery.DiscoverySelectors;
import org.junit.platform.launcher.LauncherDiscoveryRequest;
import org.junit.platform.launcher.TagFilter;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;

/**
 * Makes known mistakes in a module's code, one after the other, and fails the build if the tests do not notice one. A mistake is
 * a patch in {@code src/test/mutants}. Its text says what would follow, and its line {@code Tests:} names the classes of which
 * at least one test has to fail, relative to the package of the module.
 *
 * <p>A patch changes a copy of the source in memory; what is compiled from that replaces the module's class for one run of
 * these tests. Files are only read, so it can be stopped at any time.
 *
 * <p>Run by {@code mvn verify -P mutants}, as {@code java Mutants.java MODULE PACKAGE [NAME...]}: the directory of the module,
 * its package, and patches, if not all of them are meant.
 */
final class Mutants {
    private static final String SUFFIX = ".patch";
    private static final Pattern TESTS = Pattern.compile("(?m)^Tests: (.*)$");
    private static final Pattern FILE = Pattern.compile("--- a/(\\S+)");
    private static final Pattern HUNK = Pattern.compile("@@ -(\\d+)(?:,\\d+)? .*");
    /** A mistake may make a test endless, which is noticed as well. */
    private static final String LONGEST_TEST = "20 s";

    private final Path root;
    private final Path module;
    private final String basePackage;
    private final JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();

    private Mutants(Path module, String basePackage) {
        this.module = module;
        root = module.getParent();
        this.basePackage = basePackage;
    }

    public static void main(String[] arguments) throws Exception {
        Path module = Path.of(arguments[0]).toAbsolutePath();
        List<String> names = Arrays.asList(arguments).subList(2, arguments.length);
        Mutants mutants = new Mutants(module, arguments[1]);
        List<Path> patches = patches(module.resolve("src/test/mutants"), names);
        boolean isGood = mutants.areTestsGreen(patches);
        for (Path patch : patches) {
            String outcome = mutants.run(patch);
            isGood &= outcome.startsWith("noticed");
            System.out.println(name(patch) + ": " + outcome);
        }
        System.out.println(isGood ? "the tests notice each of " + patches.size() + " mistakes"
                : "not every mistake is noticed");
        // A test that was endless has left a thread.
        System.exit(isGood ? 0 : 1);
    }

    private static List<Path> patches(Path folder, List<String> names) throws IOException {
        List<Path> found = new ArrayList<>();
        try (DirectoryStream<Path> files = Files.newDirectoryStream(folder, "*" + SUFFIX)) {
            for (Path file : files) {
                if (names.isEmpty() || names.contains(name(file))) {
                    found.add(file);
                }
            }
        }
        if (found.isEmpty()) {
            throw new IOException("no such patch in " + folder);
        }
        found.sort(null);
        return found;
    }

    private static String name(Path patch) {
        String file = patch.getFileName().toString();
        return file.substring(0, file.length() - SUFFIX.length());
    }

    /** A test that fails anyway notices nothing. */
    private boolean areTestsGreen(List<Path> patches) throws Exception {
        Set<String> classes = new LinkedHashSet<>();
        for (Path patch : patches) {
            classes.addAll(tests(Files.readString(patch)));
        }
        Result result = runTests(List.copyOf(classes), Map.of());
        if (result.failed != null) {
            System.out.println("without any mistake: " + result.failed + " fails");
        }
        return result.failed == null;
    }

    private String run(Path file) throws Exception {
        String patch = Files.readString(file);
        List<String> tests = tests(patch);
        if (tests.isEmpty()) {
            return "NAMES NO TESTS";
        }
        Map<Path, String> sources = new HashMap<>();
        String fault = apply(patch, sources);
        if (fault != null) {
            return "NO LONGER APPLIES: " + fault;
        }
        Map<String, byte[]> classes = new HashMap<>();
        fault = compile(sources, classes);
        if (fault != null) {
            return "DOES NOT COMPILE: " + fault;
        }
        Result result = runTests(tests, classes);
        return result.failed == null
                ? "SURVIVES " + result.count + " tests of " + String.join(", ", tests)
                : "noticed by " + result.failed;
    }

    private static List<String> tests(String patch) {
        Matcher line = TESTS.matcher(patch);
        return line.find() ? List.of(line.group(1).split("[, ]+")) : List.of();
    }

    // ---------------------------------------------------------------- patches

    /** Applies a patch to copies of the sources. {@return why it cannot be applied, or null} */
    private String apply(String patch, Map<Path, String> sources) throws IOException {
        List<String> lines = patch.lines().toList();
        Path file = null;
        List<String> source = List.of();
        for (int i = 0; i < lines.size(); i++) {
            Matcher begin = FILE.matcher(lines.get(i));
            if (begin.matches()) {
                file = root.resolve(begin.group(1));
                if (!Files.exists(file)) {
                    return "there is no " + begin.group(1);
                }
                source = new ArrayList<>(Files.readAllLines(file));
                continue;
            }
            Matcher hunk = HUNK.matcher(lines.get(i));
            if (file == null || !hunk.matches()) {
                continue;
            }
            List<String> before = new ArrayList<>();
            List<String> after = new ArrayList<>();
            while (i + 1 < lines.size() && isOfHunk(lines.get(i + 1))) {
                String line = lines.get(++i);
                String text = line.isEmpty() ? "" : line.substring(1);
                if (!line.startsWith("+")) {
                    before.add(text);
                }
                if (!line.startsWith("-")) {
                    after.add(text);
                }
            }
            int at = find(source, before, Integer.parseInt(hunk.group(1)) - 1);
            if (at < 0) {
                return "the lines about " + hunk.group(1) + " of " + file.getFileName() + " have changed";
            }
            source.subList(at, at + before.size()).clear();
            source.addAll(at, after);
            sources.put(file, String.join("\n", source) + "\n");
        }
        return sources.isEmpty() ? "there is nothing in it" : null;
    }

    private static boolean isOfHunk(String line) {
        return line.isEmpty() || " +-".indexOf(line.charAt(0)) >= 0 && !line.startsWith("--- a/");
    }

    /** {@return where the lines are, next to a place; -1 if nowhere} */
    private static int find(List<String> source, List<String> lines, int near) {
        int best = -1;
        for (int at = 0; at + lines.size() <= source.size(); at++) {
            boolean isNearer = best < 0 || Math.abs(at - near) < Math.abs(best - near);
            if (isNearer && source.subList(at, at + lines.size()).equals(lines)) {
                best = at;
            }
        }
        return best;
    }

    // ---------------------------------------------------------------- classes

    /** Compiles sources against what the module was compiled to. {@return the first error, or null} */
    private String compile(Map<Path, String> sources, Map<String, byte[]> classes) throws IOException {
        DiagnosticCollector<JavaFileObject> errors = new DiagnosticCollector<>();
        try (StandardJavaFileManager standard = compiler.getStandardFileManager(errors, null, null)) {
            JavaFileManager manager = new ForwardingJavaFileManager<>(standard) {
                @Override
                public JavaFileObject getJavaFileForOutput(Location location, String className,
                        JavaFileObject.Kind kind, javax.tools.FileObject sibling) {
                    return compiled(className, classes);
                }
            };
            List<JavaFileObject> units = sources.entrySet().stream()
                    .map(entry -> source(entry.getKey(), entry.getValue())).toList();
            List<String> options = List.of("-nowarn", "-proc:none", "-parameters");
            if (compiler.getTask(new PrintWriter(System.err), manager, errors, options, null, units).call()) {
                return null;
            }
        }
        return errors.getDiagnostics().stream().filter(d -> d.getKind() == Diagnostic.Kind.ERROR).findFirst()
                .map(d -> "line " + d.getLineNumber() + ": " + d.getMessage(null)).orElse("no reason given");
    }

    private static JavaFileObject source(Path file, String text) {
        return new SimpleJavaFileObject(file.toUri(), JavaFileObject.Kind.SOURCE) {
            @Override
            public CharSequence getCharContent(boolean ignoreEncodingErrors) {
                return text;
            }
        };
    }

    private static JavaFileObject compiled(String name, Map<String, byte[]> classes) {
        return new SimpleJavaFileObject(URI.create("memory:///" + name.replace('.', '/') + ".class"),
                JavaFileObject.Kind.CLASS) {
            @Override
            public java.io.OutputStream openOutputStream() {
                return new java.io.ByteArrayOutputStream() {
                    @Override
                    public void close() {
                        classes.put(name, toByteArray());
                    }
                };
            }
        };
    }

    /** The module and its tests, loaded anew for each run, with some classes replaced. */
    private final class Loader extends ClassLoader {
        private final Map<String, byte[]> replaced;

        Loader(Map<String, byte[]> replaced) {
            super(Mutants.class.getClassLoader());
            this.replaced = replaced;
        }

        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            if (!name.startsWith(basePackage + ".")) {
                return super.loadClass(name, resolve);
            }
            synchronized (getClassLoadingLock(name)) {
                Class<?> loaded = findLoadedClass(name);
                return loaded == null ? define(name) : loaded;
            }
        }

        private Class<?> define(String name) throws ClassNotFoundException {
            byte[] bytes = replaced.get(name);
            if (bytes == null) {
                String file = name.replace('.', '/') + ".class";
                bytes = Stream.of("target/classes", "target/test-classes").map(d -> module.resolve(d).resolve(file))
                        .filter(Files::exists).map(Loader::read).findFirst().orElse(null);
            }
            if (bytes == null) {
                throw new ClassNotFoundException(name);
            }
            return defineClass(name, bytes, 0, bytes.length);
        }

        private static byte[] read(Path file) {
            try {
                return Files.readAllBytes(file);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    // ---------------------------------------------------------------- tests

    /** How many tests have ended, and the first that has failed. */
    private static final class Result implements TestExecutionListener {
        private int count;
        private String failed;

        @Override
        public synchronized void executionFinished(TestIdentifier test, TestExecutionResult result) {
            count += test.isTest() ? 1 : 0;
            if (result.getStatus() == TestExecutionResult.Status.FAILED && failed == null) {
                String owner = test.getUniqueIdObject().getSegments().stream()
                        .filter(s -> s.getType().equals("class")).findFirst()
                        .map(s -> s.getValue().substring(s.getValue().lastIndexOf('.') + 1) + "#").orElse("");
                failed = owner + test.getDisplayName().lines().findFirst().orElse("");
            }
        }
    }

    private Result runTests(List<String> names, Map<String, byte[]> classes) throws ClassNotFoundException {
        ClassLoader loader = new Loader(classes);
        List<DiscoverySelector> selectors = new ArrayList<>();
        for (String name : names) {
            selectors.add(DiscoverySelectors.selectClass(loader.loadClass(basePackage + "." + name)));
        }
        LauncherDiscoveryRequest request = LauncherDiscoveryRequestBuilder.request().selectors(selectors)
                .filters(TagFilter.excludeTags("long"))
                .configurationParameter("junit.jupiter.execution.timeout.default", LONGEST_TEST)
                .configurationParameter("junit.jupiter.execution.timeout.thread.mode.default", "SEPARATE_THREAD")
                .build();
        Result result = new Result();
        Thread.currentThread().setContextClassLoader(loader);
        LauncherFactory.create().execute(request, result);
        return result;
    }
}
