// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.pingpong;

import io.rdma4j.tools.endpoint.LocalPort;
import io.rdma4j.tools.endpoint.QueuePairAddress;
import io.rdma4j.tools.options.WarmUpOption;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.QueuePairType;
import io.rdma4j.verbs.RdmaException;
import picocli.CommandLine.Model.CommandSpec;

import java.io.IOException;
import java.io.PrintWriter;
import java.util.List;
import java.util.Locale;

/** One run of a ping-pong tool, the same for all of them. */
final class PingPong {
    private final PrintWriter out;
    private final PingPongOptions options;
    private final boolean isWarmUpWanted;
    private final Traffic traffic;

    private PingPong(CommandSpec spec, PingPongOptions options, WarmUpOption warmUp,
            Traffic traffic) {
        out = spec.commandLine().getOut();
        this.options = options;
        isWarmUpWanted = warmUp.isWanted();
        this.traffic = traffic;
    }

    /** {@return the exit status of a tool} */
    static int run(CommandSpec spec, PingPongOptions options, WarmUpOption warmUp, Traffic traffic)
            throws IOException {
        options.check(spec);
        PingPong pingPong = new PingPong(spec, options, warmUp, traffic);
        return Greeting.play(options, traffic, pingPong.out, pingPong::play);
    }

    private int play(LocalPort port, Greeting greeting) throws IOException {
        boolean isClient = options.host() != null;
        DeviceContext context = port.context();
        try (PingPongSide side = new PingPongSide(port, options, traffic)) {
            ReceiveTimes times = new ReceiveTimes(
                    context.queryDevice().completionTimestampMask());
            PingPongLoop loop = new PingPongLoop(side, traffic, options, times);
            loop.prepare();
            sayOwn(side);
            try (AddressExchange channel = new AddressExchange(greeting.meet(),
                    isWarmUpWanted)) {
                List<QueuePairAddress> remote = channel.exchange(side.sentAddresses(),
                        side::connect);
                remote.stream().limit(traffic.queuePairs())
                        .forEach(
                                peer -> print("  remote address: " + AddressText.shown(peer, ',')));
                print("  warm-up:        " + (channel.isWarmUpAgreed() ? "ON" : "OFF"));
                if (channel.isWarmUpAgreed()) {
                    PingPongWarmUp.run(port, options, traffic, channel);
                }
                if (isClient && options.isChecking()) {
                    side.buffer().mark();
                }
                long startNs = System.nanoTime();
                loop.play(isClient, options.iterations());
                printSpeed(System.nanoTime() - startNs);
                if (traffic.has(Feature.TIMESTAMPS)) {
                    times.print(out);
                }
                int status = options.isChecking() ? check(side) : 0;
                out.flush();
                if (traffic.type() == QueuePairType.RC) {
                    FinalBarrier.await(channel, context);
                }
                return status;
            }
        }
    }

    private void sayOwn(PingPongSide side) {
        char beforeGid = traffic.isDatagrams() ? ':' : ',';
        side.addresses().forEach(
                own -> print("  local address:  " + AddressText.shown(own, beforeGid)));
    }

    private void print(String line) {
        out.println(line);
        out.flush();
    }

    private void printSpeed(long elapsedNs) {
        double seconds = elapsedNs / 1e9;
        int iterations = options.iterations();
        long bytes = traffic.size() * iterations * 2;
        out.printf(Locale.ROOT, "%d bytes in %.2f seconds = %.2f Mbit/sec%n", bytes, seconds,
                bytes * 8 / seconds / 1e6);
        out.printf(Locale.ROOT, "%d iters in %.2f seconds = %.2f usec/iter%n", iterations, seconds,
                seconds * 1e6 / iterations);
    }

    private int check(PingPongSide side) throws RdmaException {
        List<Long> bad = side.buffer().badPages();
        bad.forEach(page -> out.println("invalid data in page " + page));
        return bad.isEmpty() ? 0 : 1;
    }
}
