// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.rsocket;

import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.io.PrintWriter;
import java.nio.channels.SocketChannel;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;

/** The connections of a tool, one after the other, and what is printed of their tests. */
final class StreamSession {
    /** What a tool does on a connection. */
    interface Tool {
        /** {@return the tests of a connection} */
        Tests on(SocketChannel channel, PeerWatch watch, @Nullable StreamPoll poll)
                throws IOException;
    }

    /** Tests of one connection. */
    interface Tests {
        /** {@return how long one took, in nanoseconds} */
        long run(StreamRun run) throws IOException;
    }

    private StreamSession() {}

    static void run(CommandSpec spec, StreamOptions options, Tool tool) throws IOException {
        PrintWriter out = spec.commandLine().getOut();
        List<List<StreamRun>> series = options.series(spec);
        try (StreamOptions.Way way = options.way()) {
            out.printf("%-10s%-8s%-8s%-8s%-8s%8s %10s%13s%n", "name", "bytes", "xfers", "iters",
                    "total", "time", "Gb/sec", "usec/xfer");
            out.flush();
            for (List<StreamRun> each : series) {
                SocketChannel channel = way.connect(each.equals(series.getFirst()));
                if (options.isForking()) {
                    inThread(() -> run(channel, options, tool, each, out));
                } else {
                    run(channel, options, tool, each, out);
                }
            }
        }
    }

    private interface Work {
        void run() throws IOException;
    }

    /** Does it in a thread of its own, and waits for it as C's server does for its process. */
    private static void inThread(Work work) throws IOException {
        FutureTask<@Nullable Void> task = new FutureTask<>(() -> {
            work.run();
            return null;
        });
        Thread.ofPlatform().start(task);
        try {
            task.get();
        } catch (ExecutionException e) {
            Throwable cause = Objects.requireNonNull(e.getCause());
            throw new IOException(cause.getMessage(), cause);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("interrupted");
        }
    }

    private static void run(SocketChannel connected, StreamOptions options, Tool tool,
            List<StreamRun> runs, PrintWriter out) throws IOException {
        try (SocketChannel channel = connected;
                PeerWatch watch = new PeerWatch(channel, options.patience())) {
            channel.configureBlocking(options.isBlocking());
            try (StreamPoll poll = options.isPolling() ? new StreamPoll(channel) : null) {
                Tests tests = tool.on(channel, watch, poll);
                for (StreamRun each : runs) {
                    out.println(each.line(tests.run(each)));
                    out.flush();
                }
            } catch (IOException e) {
                throw watch.cause(e);
            }
            // Closing waits for the peer's acknowledgement then.
            channel.configureBlocking(true);
        }
    }
}
