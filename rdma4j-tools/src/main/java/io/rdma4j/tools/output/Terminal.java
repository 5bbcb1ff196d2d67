// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.output;

import org.jspecify.annotations.Nullable;

import java.io.Console;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/** Whether people look at the output, how wide their terminal is, and how long lines are broken for it. */
public final class Terminal {
    /** The width of what is no terminal: nothing is broken there, so that programs read lines as they are. */
    public static final int ENDLESS = Integer.MAX_VALUE;
    private static final int NARROWEST = 20;

    private Terminal() {}

    /** {@return whether the output goes to a terminal} */
    public static boolean isPresent() {
        // Some have none.
        return Optional.ofNullable(System.console()).map(Console::isTerminal).orElse(false);
    }

    /** {@return the width in characters: that of the variable COLUMNS, or of the terminal if there is one} */
    public static int columns() {
        String wanted = System.getenv("COLUMNS");
        if (wanted == null && !isPresent()) {
            return ENDLESS;
        }
        return columnsOf(wanted == null ? size() : wanted);
    }

    /** {@return the width that the last word of a text says, {@link #ENDLESS} if it says none} */
    static int columnsOf(@Nullable String text) {
        if (text == null) {
            return ENDLESS;
        }
        String last = text.strip().replaceAll(".*\\s", "");
        return last.matches("[1-9][0-9]{0,4}") ? Math.max(NARROWEST, Integer.parseInt(last))
                : ENDLESS;
    }

    /** {@return lines and columns as stty says them, null if it is not there} */
    private static @Nullable String size() {
        try {
            Process stty = new ProcessBuilder("stty", "size")
                    .redirectInput(ProcessBuilder.Redirect.INHERIT)
                    .redirectError(ProcessBuilder.Redirect.DISCARD).start();
            try {
                return stty.waitFor(1, TimeUnit.SECONDS)
                        ? new String(stty.getInputStream().readAllBytes(),
                                StandardCharsets.US_ASCII)
                        : null;
            } finally {
                stty.destroy();
            }
        } catch (IOException isNotThere) {
            return null;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return null;
        }
    }

    /**
     * {@return a text in lines of at most a width, broken between words} A word that is longer, such as an address, stays whole:
     * it is there to be copied.
     */
    public static List<String> wrap(String text, int width) {
        List<String> lines = new ArrayList<>();
        String rest = text;
        while (rest.length() > width) {
            int space = rest.lastIndexOf(' ', width);
            if (space <= 0) {
                space = rest.indexOf(' ');
            }
            if (space < 0) {
                break;
            }
            lines.add(rest.substring(0, space));
            rest = rest.substring(space + 1);
        }
        lines.add(rest);
        return lines;
    }

    /**
     * {@return a line that begins with an indentation, in as many lines of at most a width as it needs, of which the later ones are
     * indented by four more}
     */
    public static String wrapped(String indent, String text, int width) {
        int room = width == ENDLESS ? ENDLESS : Math.max(1, width - indent.length() - 4);
        if (indent.length() + (long) text.length() <= width) {
            return indent + text;
        }
        return indent + String.join(System.lineSeparator() + indent + "    ", wrap(text, room));
    }
}
