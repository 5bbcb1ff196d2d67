// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools;

import java.io.BufferedReader;
import java.io.PrintWriter;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/**
 * A command in a thread of this process, for tests that need no process of their own: a start takes a hundredth of
 * that of a JVM. Two of them share a device; {@code rdma4j.loopback} says whether packets between them go through the
 * network.
 */
final class Command extends Running {
    private final CompletableFuture<Integer> status = new CompletableFuture<>();
    private final Thread thread;

    private Command(CommandOutput output, List<String> arguments) {
        super(new BufferedReader(output.reader()));
        // What is interrupted while it waits for a connection ends.
        thread = Thread.ofVirtual().start(() -> {
            try (PrintWriter lines = new PrintWriter(output.writer(), true)) {
                String[] words = arguments.toArray(String[]::new);
                status.complete(Main.commandLine(words).setOut(lines).setErr(lines)
                        .execute(words));
            } catch (RuntimeException | Error e) {
                status.completeExceptionally(e);
            }
        });
    }

    static Command start(List<String> arguments) {
        return new Command(new CommandOutput(), arguments);
    }

    static Command start(String line) {
        return start(List.of(line.split(" ", -1)));
    }

    @Override
    int status() throws Exception {
        return status.get(LONG.toSeconds(), TimeUnit.SECONDS);
    }

    @Override
    void end() {
        thread.interrupt();
        try {
            thread.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
