// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.examples.course;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Optional;

/** The lessons of the course, in their order. */
public enum Lesson {
    /** What a machine has. */
    DEVICES(1, "Devices, ports and GIDs", true, Lesson01::main),
    /** What a device may touch. */
    MEMORY(2, "Memory, keys and access flags", true, Lesson02::main),
    /** From nothing to the first message. */
    CONNECTION(3, "A connection in 19 and 18 steps", true, Lesson03::main),
    /** Who owns a buffer when. */
    SEND(4, "SEND and RECEIVE", false, Lesson04::main),
    /** Operations of one side. */
    ONE_SIDED(5, "WRITE, READ and WRITE_WITH_IMM", false, Lesson05::main),
    /** Without the connection manager. */
    BY_HAND(6, "A connection by hand: INIT, RTR, RTS", false, Lesson06::main),
    /** How to learn that something is done. */
    COMPLETIONS(7, "Completions: polling, events, selectors", false, Lesson07::main),
    /** Without a connection. */
    DATAGRAMS(8, "Datagrams and multicast", false, Lesson08::main),
    /** What is used more rarely. */
    MORE(9, "Atomics, fences, inline data, windows, shared receives", false, Lesson09::main),
    /** Failures, and how to find their cause. */
    FAILURES(10, "What goes wrong", false, Lesson10::main);

    private interface Program {
        void main(String... words) throws Exception;
    }

    private final int number;
    private final String title;
    private final boolean hasScript;
    /** Has no state: the main method of a class. */
    @SuppressWarnings("ImmutableEnumChecker")
    private final Program program;

    Lesson(int number, String title, boolean hasScript, Program program) {
        this.number = number;
        this.title = title;
        this.hasScript = hasScript;
        this.program = program;
    }

    /** {@return the lesson of a number, from 1} */
    public static Optional<Lesson> of(int number) {
        return Arrays.stream(values()).filter(lesson -> lesson.number == number).findAny();
    }

    /** {@return its number, from 1} */
    public int number() {
        return number;
    }

    /** {@return its title in English} */
    public String title() {
        return title;
    }

    /**
     * Runs its program, which prints to the standard output.
     *
     * @param words the address or the device to use, as the program says; none for its default
     */
    public void run(String... words) throws Exception {
        program.main(words);
    }

    /** {@return what to type into jshell, in place of the program; empty if it is not for that} */
    public Optional<String> script() throws IOException {
        if (!hasScript) {
            return Optional.empty();
        }
        try (InputStream script = Lesson.class
                .getResourceAsStream("lesson" + (number < 10 ? "0" : "") + number + ".jsh")) {
            if (script == null) {
                throw new IllegalStateException("the script of lesson " + number + " is missing");
            }
            return Optional.of(new String(script.readAllBytes(), StandardCharsets.UTF_8));
        }
    }
}
