// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.demo;

import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.ParameterException;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** What can be known to be wrong with the files of the demo before anything starts. */
final class FileArguments {
    private static final String OUTPUT = "--output";
    private static final String PCAP = "--pcap";

    private final CommandLine command;

    FileArguments(CommandLine command) {
        this.command = command;
    }

    /** @throws ParameterException if one cannot be read or written, or two are the same */
    void check(@Nullable Path file, @Nullable Path output, @Nullable Path capture)
            throws IOException {
        if (file != null) {
            require(Files.exists(file), "'" + file + "' is not there");
            require(Files.isRegularFile(file), "'" + file + "' is no regular file");
            require(Files.isReadable(file), "'" + file + "' cannot be read");
        }
        if (output != null) {
            require(file != null, OUTPUT + " needs a FILE to store");
            checkWritable(OUTPUT, output);
            require(!Files.exists(output) || Files.isRegularFile(output),
                    OUTPUT + " '" + output + "' is no regular file");
        }
        if (capture != null) {
            checkWritable(PCAP, capture);
        }
        checkDifferent(OUTPUT, output, "FILE", file);
        checkDifferent(PCAP, capture, "FILE", file);
        checkDifferent(PCAP, capture, OUTPUT, output);
    }

    private void checkWritable(String option, Path path) {
        String named = option + " '" + path + "'";
        require(!Files.isDirectory(path), named + " is a directory");
        if (Files.exists(path)) {
            require(Files.isWritable(path), named + " cannot be written");
        }
        Path directory = path.toAbsolutePath().normalize().getParent();
        if (directory != null) {
            require(Files.isDirectory(directory),
                    option + ": there is no directory '" + directory + "'");
            require(Files.isWritable(directory),
                    option + ": nothing can be written in directory '" + directory + "'");
        }
    }

    private void checkDifferent(String option, @Nullable Path path, String otherOption,
            @Nullable Path other) throws IOException {
        if (path == null || other == null) {
            return;
        }
        boolean isSame = (Files.exists(path) && Files.exists(other))
                ? Files.isSameFile(path, other)
                : path.toAbsolutePath().normalize().equals(other.toAbsolutePath().normalize());
        require(!isSame, option + " '" + path + "' is the same file as " + otherOption
                + "; it would be overwritten");
    }

    private void require(boolean holds, String otherwise) {
        if (!holds) {
            throw new ParameterException(command, otherwise);
        }
    }
}
