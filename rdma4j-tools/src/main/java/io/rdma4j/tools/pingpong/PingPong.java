package io.rdma4j.tools.pingpong;

import io.rdma4j.tools.endpoint.QueuePairAddress;
import io.rdma4j.tools.tcp.OutOfBandChannel;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.QueuePairType;
import io.rdma4j.verbs.RdmaException;
import picocli.CommandLine.Model.CommandSpec;

import java.io.IOException;
import java.io.PrintWriter;
import java.net.ServerSocket;
import java.util.List;
import java.util.Locale;

/** One run of a ping-pong tool, the same for all of them. */
final class PingPong {
    private final PrintWriter out;
    private final PingPongOptions options;
    private final Traffic traffic;

    private PingPong(CommandSpec spec, PingPongOptions options, Traffic traffic) {
        out = spec.commandLine().getOut();
        this.options = options;
        this.traffic = traffic;
    }

    /** {@return the exit status of a tool} */
    static int run(CommandSpec spec, PingPongOptions options, Traffic traffic) throws IOException {
        options.check(spec);
        return new PingPong(spec, options, traffic).run();
    }

    private int run() throws IOException {
        String host = options.host();
        if (host == null) {
            // Listens before it prints anything: who reads the first line may connect.
            try (ServerSocket listener = OutOfBandChannel.listen(options.port())) {
                if (options.port() == 0) {
                    print("  listening on port " + listener.getLocalPort());
                }
                return play(false, () -> OutOfBandChannel.accept(listener, options.patience()));
            }
        }
        return play(true,
                () -> OutOfBandChannel.connect(host, options.port(), options.patience()));
    }

    /** Gets in touch with the peer. */
    @FunctionalInterface
    private interface Greeting {
        OutOfBandChannel meet() throws IOException;
    }

    private int play(boolean isClient, Greeting greeting) throws IOException {
        try (DeviceContext context = options.open();
                Side side = new Side(context, options, traffic)) {
            ReceiveTimes times = new ReceiveTimes(
                    context.queryDeviceExtended().completionTimestampMask());
            Rally rally = new Rally(side, traffic, options, times);
            rally.prepare();
            sayOwn(side);
            try (SideChannel channel = new SideChannel(greeting.meet())) {
                List<QueuePairAddress> remote = channel.exchange(side.told(), side::connect);
                remote.stream().limit(traffic.queuePairs())
                        .forEach(
                                peer -> print("  remote address: " + AddressText.shown(peer, ',')));
                if (isClient && options.isChecking()) {
                    side.buffer().mark();
                }
                long startNs = System.nanoTime();
                rally.play(isClient);
                printSpeed(System.nanoTime() - startNs);
                if (traffic.has(Extra.TIMESTAMPS)) {
                    times.print(out);
                }
                int status = options.isChecking() ? check(side) : 0;
                out.flush();
                if (traffic.type() == QueuePairType.RC) {
                    Farewell.say(channel, context);
                }
                return status;
            }
        }
    }

    private void sayOwn(Side side) {
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

    private int check(Side side) throws RdmaException {
        List<Long> bad = side.buffer().badPages();
        bad.forEach(page -> out.println("invalid data in page " + page));
        return bad.isEmpty() ? 0 : 1;
    }
}
