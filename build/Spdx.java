// SPDX-License-Identifier: Apache-2.0
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/**
 * Has each source file name its licence, in its first line, or in the second after that which names an interpreter.
 *
 * <pre>
 * java build/Spdx.java           # adds the line where it is missing
 * java build/Spdx.java --check   # lists the files without it, and fails
 * </pre>
 */
final class Spdx {
    private static final String NAME = "SPDX-License-Identifier: Apache-2.0";
    /** What a build, a tool or a run makes. */
    private static final Set<String> OTHERS = Set.of("target", ".git", ".idea", "__pycache__", "node_modules");

    private Spdx() {}

    public static void main(String[] arguments) throws IOException {
        boolean isCheck = arguments.length == 1 && arguments[0].equals("--check");
        if (arguments.length > 0 && !isCheck) {
            System.err.println("Spdx: takes nothing, or --check");
            System.exit(2);
        }
        List<Path> without = new ArrayList<>();
        for (Path file : sources(Path.of("").toAbsolutePath())) {
            String text = Files.readString(file, StandardCharsets.ISO_8859_1);
            if (isNamed(text)) {
                continue;
            }
            without.add(file);
            if (!isCheck) {
                Files.writeString(file, named(file, text), StandardCharsets.ISO_8859_1);
            }
        }
        without.forEach(file -> System.out.println((isCheck ? "no licence is named in " : "added to ") + file));
        if (isCheck && !without.isEmpty()) {
            System.exit(1);
        }
    }

    private static List<Path> sources(Path root) throws IOException {
        List<Path> files = new ArrayList<>();
        Files.walkFileTree(root, new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult preVisitDirectory(Path directory, BasicFileAttributes attributes) {
                return OTHERS.contains(String.valueOf(directory.getFileName())) || directory.endsWith(Path.of("resources", "fuzz"))
                        ? FileVisitResult.SKIP_SUBTREE
                        : FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
                if (attributes.isRegularFile() && isSource(file)) {
                    files.add(file);
                }
                return FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult visitFileFailed(Path file, IOException failure) throws IOException {
                if (failure instanceof NoSuchFileException) {
                    // Others work here as well, such as a JVM to which another attaches.
                    return FileVisitResult.CONTINUE;
                }
                throw failure;
            }
        });
        return files.stream().sorted().toList();
    }

    private static boolean isSource(Path file) throws IOException {
        String name = file.getFileName().toString();
        if (name.endsWith(".java") || name.endsWith(".c") || name.endsWith(".py") || name.endsWith(".sh")) {
            return true;
        }
        if (name.contains(".")) {
            return false;
        }
        byte[] start = new byte[2];
        try (var in = Files.newInputStream(file)) {
            return in.readNBytes(start, 0, 2) == 2 && start[0] == '#' && start[1] == '!';
        }
    }

    private static boolean isNamed(String text) {
        return text.lines().limit(2).anyMatch(line -> line.endsWith(NAME));
    }

    private static String named(Path file, String text) {
        String name = file.getFileName().toString();
        String line = (name.endsWith(".java") || name.endsWith(".c") ? "// " : "# ") + NAME + "\n";
        if (!text.startsWith("#!")) {
            return line + text;
        }
        int second = text.indexOf('\n') + 1;
        return text.substring(0, second) + line + text.substring(second);
    }
}
