// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.output;

import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.NoSuchFileException;

/** What tools say of a failure. */
public final class OneLine {
    private OneLine() {}

    /** {@return what happened in one line} */
    public static String of(Throwable e) {
        String message = e.getMessage() == null ? "" : e.getMessage();
        String line = message.lines().findFirst().orElse("");
        return switch (e) {
            // These have nothing but the file's name to say.
            case NoSuchFileException missing -> line + ": no such file or directory";
            case FileAlreadyExistsException present -> line + ": it exists already";
            case AccessDeniedException denied -> line + ": permission denied";
            default -> line.isEmpty() ? e.getClass().getSimpleName() : line;
        };
    }
}
