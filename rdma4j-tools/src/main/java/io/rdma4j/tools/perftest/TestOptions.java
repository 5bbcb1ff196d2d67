// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.perftest;

import io.rdma4j.tools.options.Refusal;
import io.rdma4j.tools.options.WholeNumber;
import io.rdma4j.verbs.QueuePairType;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;

import java.util.List;
import java.util.Locale;
import java.util.stream.IntStream;

/** The options of all tools that determine the measurement. */
final class TestOptions {
    static final long LONGEST = 1L << 23;
    private static final int LARGEST_POWER = 23;
    private static final int ATOMIC_BYTES = 8;
    private static final int FEWEST = 5;
    private static final int MOST = 100_000_000;

    @Option(names = {"-c", "--connection"}, paramLabel = "TYPE", defaultValue = "RC",
            description = "Transport service: RC, UC or UD (default: ${DEFAULT-VALUE}).")
    private String type = "RC";

    @Option(names = {"-s", "--size"}, paramLabel = "BYTES", converter = WholeNumber.class,
            description = "Bytes of a message (default: 65536 for bandwidth, 2 for latency;"
                    + " atomics have 8).")
    private @Nullable Long size;

    @Option(names = {"-a", "--all"}, description = "Go through the sizes 2, 4, 8 … 8388608.")
    private boolean isAllSizes;

    @Option(names = {"-n", "--iters"}, paramLabel = "COUNT", converter = WholeNumber.class,
            description = "Messages of each size, at least 5 (default: 5000 for the bandwidth of"
                    + " WRITE, else 1000).")
    private @Nullable Long iterations;

    @Option(names = {"-D", "--duration"}, paramLabel = "SECONDS", converter = WholeNumber.class,
            description = "Measure for so long instead.")
    private @Nullable Long seconds;

    @Option(names = {"-f", "--margin"}, paramLabel = "SECONDS", converter = WholeNumber.class,
            description = "Leave out so much of it at the beginning and at the end (default: a"
                    + " quarter).")
    private @Nullable Long margin;

    @Option(names = {"-r", "--rx-depth"}, paramLabel = "DEPTH", converter = WholeNumber.class,
            description = "Receives to post (default: 512).")
    private @Nullable Long receiveDepth;

    @Option(names = {"-I", "--inline_size"}, paramLabel = "BYTES", defaultValue = "0",
            converter = WholeNumber.class,
            description = "Send messages up to this size inline (default: ${DEFAULT-VALUE}).")
    private long inlineBytes;

    @Option(names = {"-o", "--outs"}, paramLabel = "COUNT", converter = WholeNumber.class,
            description = "READs or atomics that may be outstanding (default: what the device"
                    + " can).")
    private @Nullable Long outstanding;

    @Option(names = {"-e", "--events"},
            description = "Sleep until completions are announced (default: poll).")
    private boolean usesEvents;

    @Option(names = {"-u", "--qp-timeout"}, paramLabel = "VALUE", defaultValue = "16",
            converter = WholeNumber.class,
            description = "Acknowledgement time-out: 4.096 us times 2 to this power (default:"
                    + " ${DEFAULT-VALUE}).")
    private long timeout;

    @Option(names = {"-S", "--sl"}, paramLabel = "SL", defaultValue = "0",
            converter = WholeNumber.class,
            description = "Service level (default: ${DEFAULT-VALUE}).")
    private long serviceLevel;

    @Option(names = {"-A", "--atomic_type"}, paramLabel = "TYPE",
            description = "Atomic operation: CMP_AND_SWAP or FETCH_AND_ADD (default:"
                    + " FETCH_AND_ADD).")
    private @Nullable AtomicOperation atomic;

    /** {@return the measurement} Refuses invalid values. */
    Plan plan(CommandSpec spec, Verb verb, Depths depths, boolean isClient) {
        check(spec, verb, depths.isLatency());
        QueuePairType service = type(spec, verb);
        int messages = seconds == null
                ? iterations(spec, verb, depths.isLatency())
                : 0;
        int time = seconds == null
                ? 0
                : WholeNumber.checked(spec, "-D", seconds, 1, MOST);
        int left = margin(spec, time);
        List<Long> sizes = sizes(spec, verb, depths.isLatency());
        int sending = messages == 0 ? depths.send() : Math.min(depths.send(), messages);
        int moderation = moderation(spec, service, depths, sizes.getLast(), sending);
        Refusal.when(spec, depths.list() > sending,
                "-l must not be larger than -t (" + sending + ")");
        Refusal.when(spec, messages % depths.list() != 0, "-n must be a multiple of -l");
        boolean hasPeak = depths.hasPeak() && !depths.isLatency() && messages > 0
                && (long) messages * depths.queuePairs() <= Depths.MOST_WITH_PEAK;
        return new Plan(verb, atomic == null ? AtomicOperation.FETCH_AND_ADD : atomic,
                depths.isLatency(), isClient, service, sizes, size != null && !isAllSizes,
                messages, time, left, depths.queuePairs(), sending,
                receiveDepth(spec, verb, service, messages), moderation, depths.list(),
                (int) inlineBytes,
                outstanding == null ? 0 : Math.toIntExact(outstanding), (int) timeout,
                (int) serviceLevel, usesEvents, depths.isBothWays(), hasPeak);
    }

    private void check(CommandSpec spec, Verb verb, boolean isLatency) {
        WholeNumber.requireRange(spec, "-I", inlineBytes, 0, 912);
        WholeNumber.requireRange(spec, "-u", timeout, 0, 31);
        WholeNumber.requireRange(spec, "-S", serviceLevel, 0, 15);
        if (outstanding != null) {
            WholeNumber.requireRange(spec, "-o", outstanding, 1, 65535);
        }
        Refusal.when(spec, seconds != null && iterations != null,
                "-D and -n: it is either a time or a number of messages");
        Refusal.when(spec, seconds != null && isAllSizes, "-D does not work with -a");
        Refusal.when(spec, seconds != null && usesEvents, "-D does not work with -e");
        Refusal.when(spec, usesEvents && isLatency && verb == Verb.WRITE,
                "-e is not possible: no event tells of a WRITE, so memory is polled");
        Refusal.when(spec, atomic != null && verb != Verb.ATOMIC, "-A is for atomic tests");
        Refusal.when(spec, outstanding != null && !verb.isAnswered(),
                "-o is for READ and atomic tests");
        Refusal.when(spec, inlineBytes > 0 && verb.isAnswered(),
                "-I is for WRITE and SEND tests");
        Refusal.when(spec, receiveDepth != null && !verb.isSend(), "-r is for SEND tests");
        Refusal.when(spec, isAllSizes && verb == Verb.ATOMIC,
                "-a is not possible: atomics have 8 bytes");
        Refusal.when(spec, isAllSizes && size != null, "-a and -s: it is either all sizes or one");
        Refusal.when(spec, margin != null && seconds == null, "-f works with -D only");
    }

    private QueuePairType type(CommandSpec spec, Verb verb) {
        QueuePairType service = switch (type.toUpperCase(Locale.ROOT)) {
            case "UC" -> QueuePairType.UC;
            case "UD" -> QueuePairType.UD;
            default -> QueuePairType.RC;
        };
        Refusal.when(spec, !service.name().equalsIgnoreCase(type),
                "-c " + type + " is not possible: RC, UC and UD are");
        Refusal.when(spec, !verb.isPossibleOver(service),
                "-c " + service + " is not possible: it has no " + verb);
        return service;
    }

    private int iterations(CommandSpec spec, Verb verb, boolean isLatency) {
        if (iterations == null) {
            return verb == Verb.WRITE && !isLatency ? 5000 : 1000;
        }
        return WholeNumber.checked(spec, "-n", iterations, FEWEST, MOST);
    }

    private int margin(CommandSpec spec, int time) {
        if (margin == null) {
            return time / 4;
        }
        int left = WholeNumber.checked(spec, "-f", margin, 0, MOST);
        Refusal.when(spec, 2L * left >= time, "-f must be less than half of -D");
        return left;
    }

    private List<Long> sizes(CommandSpec spec, Verb verb, boolean isLatency) {
        if (isAllSizes) {
            return IntStream.rangeClosed(1, LARGEST_POWER).mapToObj(power -> 1L << power).toList();
        }
        if (verb == Verb.ATOMIC) {
            Refusal.when(spec, size != null && size != ATOMIC_BYTES,
                    "-s is not possible: atomics have 8 bytes");
            return List.of((long) ATOMIC_BYTES);
        }
        if (size == null) {
            return List.of(isLatency ? 2L : 65536L);
        }
        WholeNumber.requireRange(spec, "-s", size, 1, LONGEST);
        return List.of(size);
    }

    private int receiveDepth(CommandSpec spec, Verb verb, QueuePairType service, int messages) {
        if (!verb.isSend()) {
            return 1;
        }
        int depth = receiveDepth == null
                ? defaultReceiveDepth(service, messages)
                : WholeNumber.checked(spec, "-r", receiveDepth, 1, 16384);
        return messages == 0 ? depth : Math.min(depth, messages);
    }

    /** If the transport cannot make the peer wait, all receives are posted before it begins. */
    private static int defaultReceiveDepth(QueuePairType service, int messages) {
        return service == QueuePairType.RC || messages == 0 ? Depths.RECEIVES
                : Math.min(messages, Depths.UNRELIABLE_RECEIVES);
    }

    private int moderation(CommandSpec spec, QueuePairType service, Depths depths, long longest,
            int sending) {
        int chosen = depths.moderation();
        if (depths.list() > 1) {
            Refusal.when(spec, chosen > 0 && depths.list() % chosen != 0,
                    "-l must be a multiple of -Q");
            return chosen > 0 ? chosen : depths.list();
        }
        if (chosen > 0) {
            return Math.min(chosen, sending);
        }
        // Completions of long messages are few enough, and their times show the peak better.
        boolean isLong = longest > Depths.LONG_MESSAGE && service != QueuePairType.UD
                && !isAllSizes && !usesEvents;
        return isLong ? 1 : Math.min(Depths.MODERATION, sending);
    }
}
