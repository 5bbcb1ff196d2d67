// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;
import org.xml.sax.SAXException;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import javax.xml.parsers.DocumentBuilderFactory;
import javax.xml.parsers.ParserConfigurationException;

import static org.assertj.core.api.Assertions.assertThat;

/** The version stands in one place, {@code pom.xml}, and everything that says it says the same. */
@ExtendWith(NothingStaysOpen.class)
class VersionTest {
    private static final Path ROOT = Path.of("..").toAbsolutePath().normalize();
    private static final Pattern DEPENDENCY = Pattern.compile(
            "<artifactId>rdma4j[a-z-]*</artifactId>\\s*<version>([^<]*)</version>");
    private static final Pattern JAR = Pattern
            .compile(
                    "rdma4j[a-z-]*[-:](\\d+\\.\\d+[0-9A-Za-z.-]*?)(?=\\.jar|\\.zip|[^0-9A-Za-z.-])");

    @TempDir
    private Path directory = Path.of("");

    @Test
    void everyModuleTakesItFromTheParent() throws Exception {
        for (String module : modules()) {
            Element project = xml(ROOT.resolve(module).resolve("pom.xml"));
            Element parent = (Element) project.getElementsByTagName("parent").item(0);
            assertThat(parent.getElementsByTagName("version").item(0).getTextContent())
                    .as(module).isEqualTo("${revision}");
        }
    }

    @Test
    void documentsAndCommandSayTheSame() throws Exception {
        assertSaid(ROOT, version(ROOT));
        Invocation tools = new Invocation();
        assertThat(tools.run(List.of("--version"))).isZero();
        assertThat(tools.out().strip()).isEqualTo("rdma4j " + version(ROOT));
    }

    @Test
    void oneCommandChangesIt() throws Exception {
        copyOfTheDocuments();
        run(0, "9.8.7");
        assertThat(version(directory)).isEqualTo("9.8.7");
        assertSaid(directory, "9.8.7");
        assertThat(run(0)).isEqualTo("9.8.7\n");
        run(0, "9.9.0-SNAPSHOT");
        assertSaid(directory, "9.9.0-SNAPSHOT");
    }

    @Test
    void whatIsNoVersionChangesNothing() throws Exception {
        copyOfTheDocuments();
        assertThat(run(2, "next")).contains("'next' is no version");
        assertThat(run(2, "1.2.3&4")).contains("other characters");
        assertSaid(directory, version(ROOT));
    }

    private static List<String> modules() throws Exception {
        List<String> modules = new ArrayList<>();
        NodeList list = xml(ROOT.resolve("pom.xml")).getElementsByTagName("module");
        for (int i = 0; i < list.getLength(); i++) {
            modules.add(list.item(i).getTextContent());
        }
        assertThat(modules).isNotEmpty();
        return modules;
    }

    private static Element xml(Path file)
            throws IOException, ParserConfigurationException, SAXException {
        return DocumentBuilderFactory.newInstance().newDocumentBuilder().parse(file.toFile())
                .getDocumentElement();
    }

    private static String version(Path root) throws Exception {
        return xml(root.resolve("pom.xml")).getElementsByTagName("revision").item(0)
                .getTextContent();
    }

    private static void assertSaid(Path root, String version) throws IOException {
        int said = 0;
        for (Path document : RepositoryFiles.in(root,
                file -> file.toString().endsWith(".md"))) {
            String text = Files.readString(document);
            for (Pattern pattern : List.of(DEPENDENCY, JAR)) {
                for (Matcher matcher = pattern.matcher(text); matcher.find(); said++) {
                    assertThat(matcher.group(1)).as("%s: %s", document, matcher.group())
                            .isEqualTo(version);
                }
            }
        }
        assertThat(said).isPositive();
    }

    private void copyOfTheDocuments() throws IOException {
        List<Path> files = new ArrayList<>(
                RepositoryFiles.in(ROOT, file -> file.toString().endsWith(".md")));
        files.add(ROOT.resolve("pom.xml"));
        files.add(ROOT.resolve("build/version"));
        for (Path file : files) {
            Path copy = directory.resolve(ROOT.relativize(file));
            Files.createDirectories(copy.toAbsolutePath().getParent());
            Files.copy(file, copy, StandardCopyOption.COPY_ATTRIBUTES);
        }
    }

    private String run(int status, String... arguments) throws Exception {
        List<String> command = new ArrayList<>(
                List.of(directory.resolve("build/version").toString()));
        command.addAll(List.of(arguments));
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor(20, TimeUnit.SECONDS)).isTrue();
        assertThat(process.exitValue()).as(said).isEqualTo(status);
        return said;
    }
}
