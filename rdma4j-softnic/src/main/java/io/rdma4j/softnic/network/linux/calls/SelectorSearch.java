// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.network.linux.calls;

import java.io.IOException;
import java.nio.channels.Selector;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.StringTokenizer;

/**
 * The search for the epoll set that a selector of the JDK's is. The JDK does not tell it; but to wake a selector up, it writes to an event
 * descriptor in the set, and Linux tells which sets there are, what they watch, and what has been written to event descriptors. What two wake-ups
 * in a row say is taken for true: another selector may be woken at the same moment, but hardly twice. Source: proc_pid_fdinfo(5).
 */
final class SelectorSearch {
    private static final String OF_EPOLL = "sun.nio.ch.EPollSelectorImpl";
    private static final String EPOLL = "anon_inode:[eventpoll]";
    private static final String EVENTFD = "anon_inode:[eventfd]";
    private static final String WATCHED = "tfd:";
    private static final String COUNT = "eventfd-count:";
    private static final Path FILES = Path.of("/proc/self/fd");
    private static final Path ABOUT = Path.of("/proc/self/fdinfo");
    private static final int NONE = -1;
    /** A selector that had something each time cannot be told from one that was not woken. */
    private static final int MOST_ATTEMPTS = 16;

    private int attemptsLeft;
    private int candidate = NONE;
    private volatile int found = NONE;

    private SelectorSearch(int attempts) {
        attemptsLeft = attempts;
    }

    /** {@return the search for a selector} There is nothing to be found for one that is not an epoll set. */
    static SelectorSearch of(Selector selector) {
        boolean isEpoll = selector.getClass().getName().equals(OF_EPOLL);
        return new SelectorSearch(isEpoll ? MOST_ATTEMPTS : 0);
    }

    /** An event descriptor in an epoll set. */
    private record Watched(int epoll, int eventfd) {}

    /** {@return the descriptor of the set, -1 if it has not been found} */
    int found() {
        return found;
    }

    /** {@return the descriptor of the set, -1 while it is not known} */
    synchronized int search(Selector selector) {
        if (found < 0 && attemptsLeft > 0) {
            attemptsLeft--;
            int woken = findWoken(selector);
            if (woken >= 0 && woken == candidate) {
                found = woken;
            }
            candidate = woken;
        }
        return found;
    }

    private static int findWoken(Selector selector) {
        try {
            List<Watched> unwritten = new ArrayList<>();
            for (Watched each : watched()) {
                if (!isWritten(each.eventfd())) {
                    unwritten.add(each);
                }
            }
            selector.wakeup();
            int woken = NONE;
            for (Watched each : unwritten) {
                if (isWritten(each.eventfd())) {
                    if (woken >= 0) {
                        return NONE;
                    }
                    woken = each.epoll();
                }
            }
            return woken;
        } catch (IOException | DirectoryIteratorException | IllegalArgumentException notToBeSeen) {
            return NONE;
        }
    }

    private static List<Watched> watched() throws IOException {
        List<Watched> all = new ArrayList<>();
        try (DirectoryStream<Path> files = Files.newDirectoryStream(FILES)) {
            for (Path file : files) {
                if (isNamed(file, EPOLL)) {
                    addWatched(Integer.parseInt(file.getFileName().toString()), all);
                }
            }
        }
        return all;
    }

    private static void addWatched(int epoll, List<Watched> all) throws IOException {
        for (String line : Files.readAllLines(about(epoll))) {
            if (line.startsWith(WATCHED)) {
                String number = new StringTokenizer(line.substring(WATCHED.length())).nextToken();
                if (isNamed(FILES.resolve(number), EVENTFD)) {
                    all.add(new Watched(epoll, Integer.parseInt(number)));
                }
            }
        }
    }

    private static boolean isWritten(int eventfd) throws IOException {
        for (String line : Files.readAllLines(about(eventfd))) {
            if (line.startsWith(COUNT)) {
                return Long.parseUnsignedLong(line.substring(COUNT.length()).strip(), 16) != 0;
            }
        }
        return false;
    }

    private static boolean isNamed(Path file, String name) {
        try {
            return Files.readSymbolicLink(file).toString().equals(name);
        } catch (IOException closedMeanwhile) {
            return false;
        }
    }

    private static Path about(int descriptor) {
        return ABOUT.resolve(Integer.toString(descriptor));
    }
}
