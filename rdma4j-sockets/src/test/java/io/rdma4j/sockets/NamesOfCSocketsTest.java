// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets;

import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import static org.assertj.core.api.Assertions.assertThat;

/** Each name of {@code rsocket.h} has its row in docs/howto/sockets.md, the methods of that row exist, and the search of the Javadoc finds the names. */
class NamesOfCSocketsTest {
    private static final Set<String> NAMES = Set.of("rsocket", "rbind", "rlisten", "raccept",
            "rconnect", "rshutdown", "rclose", "rrecv", "rrecvfrom", "rrecvmsg", "rsend",
            "rsendto", "rsendmsg", "rread", "rreadv", "rwrite", "rwritev", "rpoll", "rselect",
            "rgetpeername", "rgetsockname", "rsetsockopt", "rgetsockopt", "rfcntl", "riomap",
            "riounmap", "riowrite", "RDMA_SQSIZE", "RDMA_RQSIZE", "RDMA_INLINE",
            "RDMA_IOMAPSIZE", "RDMA_ROUTE", "SOL_RDMA");
    /** What is Java's own to do, or nobody's. */
    private static final Set<String> NOT_INDEXED = Set.of("rclose", "rfcntl", "rpoll", "rselect",
            "rread", "rwrite", "rrecvmsg", "rsendmsg", "RDMA_ROUTE", "SOL_RDMA");
    private static final Map<String, Class<?>> CLASSES = Stream
            .of(RdmaSockets.class, RdmaSocketChannel.class, RdmaServerSocketChannel.class,
                    RdmaDatagramChannel.class)
            .collect(Collectors.toMap(Class::getSimpleName, each -> each));

    private final List<String> rows;

    NamesOfCSocketsTest() throws IOException {
        rows = Files.readAllLines(Path.of("..", "docs", "howto", "sockets.md")).stream()
                .dropWhile(line -> !line.equals("## Names of C")).skip(4)
                .takeWhile(line -> line.startsWith("|")).toList();
    }

    private static List<String> quoted(String text) {
        Matcher matcher = Pattern.compile("`([^`]+)`").matcher(text);
        return matcher.results().map(each -> each.group(1)).toList();
    }

    @Test
    void eachNameHasOneRow() {
        assertThat(rows.stream().flatMap(row -> quoted(row.split("\\|", -1)[1]).stream()))
                .containsExactlyInAnyOrderElementsOf(NAMES);
    }

    @Test
    void methodsOfTheRowsExist() {
        List<String> places = rows.stream()
                .flatMap(row -> quoted(row.split("\\|", -1)[2]).stream())
                .filter(each -> each.contains(".")).toList();
        assertThat(places).hasSizeGreaterThan(15);
        for (String each : places) {
            String[] parts = each.split("\\.", 2);
            Class<?> place = Objects.requireNonNull(CLASSES.get(parts[0]), each);
            assertThat(Arrays.stream(place.getMethods()).map(Method::getName)).contains(parts[1]);
        }
    }

    @Test
    void searchOfTheJavadocFindsThem() throws IOException {
        Set<String> found = new TreeSet<>();
        try (Stream<Path> files = Files.list(Path.of("src/main/java/io/rdma4j/sockets"))) {
            for (Path each : files.filter(Files::isRegularFile).toList()) {
                Matcher matcher = Pattern.compile("\\{@index\\s+(?:\\*\\s+)?(\\w+)\\}")
                        .matcher(Files.readString(each));
                matcher.results().forEach(result -> found.add(result.group(1)));
            }
        }
        Set<String> wanted = new TreeSet<>(NAMES);
        wanted.removeAll(NOT_INDEXED);
        assertThat(found).isEqualTo(wanted);
    }
}
