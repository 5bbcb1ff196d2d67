// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;

/** The files of a clone. */
final class RepositoryFiles {
    private RepositoryFiles() {}

    /** {@return those that are wanted, without what builds and runs have made} */
    static List<Path> in(Path root, Predicate<Path> wanted) {
        List<Path> found = new ArrayList<>();
        try {
            Files.walkFileTree(root, new SimpleFileVisitor<>() {
                @Override
                public FileVisitResult preVisitDirectory(Path folder,
                        BasicFileAttributes attributes) {
                    String name = String.valueOf(folder.getFileName());
                    boolean isMade = name.equals("target") || name.equals("node_modules")
                            || name.startsWith(".");
                    return isMade && !folder.equals(root)
                            ? FileVisitResult.SKIP_SUBTREE
                            : FileVisitResult.CONTINUE;
                }

                @Override
                public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
                    if (attributes.isRegularFile() && wanted.test(file)) {
                        found.add(file);
                    }
                    return FileVisitResult.CONTINUE;
                }

                // A JVM that another test attaches to makes a file in its folder for a moment.
                @Override
                public FileVisitResult visitFileFailed(Path file, IOException failure)
                        throws IOException {
                    if (failure instanceof NoSuchFileException) {
                        return FileVisitResult.CONTINUE;
                    }
                    throw failure;
                }
            });
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
        return found;
    }
}
