// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.options;

import java.math.BigDecimal;
import java.time.Duration;
import java.util.Locale;
import java.util.Optional;
import java.util.StringJoiner;

/**
 * An impaired network: what happens to the packets that a RoCE device sends, or to the writes of an iWARP device to its
 * streams. With it, programs can be tested for loss on a network that loses nothing.
 *
 * <p>A generator with the given seed decides what happens to each packet and each write; the same program with the same seed
 * gets the same decisions. Probabilities are from 0 to 1. Packets cannot be stalled, cut or reset; a byte stream cannot
 * lose, duplicate or reorder. A device refuses what its network does not support.
 *
 * @param loss the share of packets that are lost
 * @param duplication the share of packets that arrive twice
 * @param corruption the share of packets that arrive with a flipped bit, which the receiver detects and drops
 * @param reordering the share of packets that are delayed by up to a millisecond, so that later ones
 *        overtake them
 * @param delay the delay of every packet; delays end by the system's timers, so a millisecond more is
 *        possible
 * @param jitter the maximum additional delay, evenly distributed; packets keep their order
 * @param stall the share of writes at which a stream pauses for half a second
 * @param cut the share of writes in whose middle the stream ends, as if the other side had closed it
 * @param reset the share of writes in whose middle the connection is reset
 * @param seed of the generator
 */
public record Impairment(double loss, double duplication, double corruption, double reordering,
        Duration delay, Duration jitter, double stall, double cut, double reset, long seed) {
    private static final Duration LONGEST = Duration.ofSeconds(60);

    /** A network as it is. */
    public static final Impairment NONE = new Impairment(0, 0, 0, 0, Duration.ZERO, Duration.ZERO,
            0, 0, 0, 0);

    /**
     * Checks the values.
     *
     * @throws IllegalArgumentException for a share that is not from 0 to 1, or a time that is not from 0 to 60 seconds
     */
    public Impairment {
        checkShare("loss", loss);
        checkShare("duplication", duplication);
        checkShare("corruption", corruption);
        checkShare("reordering", reordering);
        checkShare("stall", stall);
        checkShare("cut", cut);
        checkShare("reset", reset);
        checkTime("delay", delay);
        checkTime("jitter", jitter);
    }

    private static void checkTime(String name, Duration value) {
        if (value.isNegative() || value.compareTo(LONGEST) > 0) {
            throw new IllegalArgumentException(
                    name + " must be from 0 to " + LONGEST.toSeconds() + " s, not " + value);
        }
    }

    private static void checkShare(String name, double value) {
        if (!(value >= 0 && value <= 1)) {
            throw new IllegalArgumentException(name + " must be from 0 to 1, not " + value);
        }
    }

    /** {@return whether nothing happens to packets} */
    public boolean isNone() {
        return loss == 0 && duplication == 0 && corruption == 0 && reordering == 0
                && delay.isZero() && jitter.isZero() && stall == 0 && cut == 0 && reset == 0;
    }

    /** {@return the name of an impairment that only packets can have and that is set here; empty if there is none} */
    public Optional<String> nameOfPacketsOnly() {
        return loss != 0 ? Optional.of("loss")
                : duplication != 0 ? Optional.of("duplicate")
                        : reordering != 0 ? Optional.of("reorder") : Optional.empty();
    }

    /** {@return the name of an impairment that only byte streams can have and that is set here; empty if there is none} */
    public Optional<String> nameOfStreamsOnly() {
        return stall != 0 ? Optional.of("stall")
                : cut != 0 ? Optional.of("cut")
                        : reset != 0 ? Optional.of("reset") : Optional.empty();
    }

    /** {@return the same with another share of lost packets} */
    public Impairment withLoss(double value) {
        return new Impairment(value, duplication, corruption, reordering, delay, jitter, stall,
                cut, reset, seed);
    }

    /** {@return the same with another share of doubled packets} */
    public Impairment withDuplication(double value) {
        return new Impairment(loss, value, corruption, reordering, delay, jitter, stall,
                cut, reset, seed);
    }

    /** {@return the same with another share of damaged packets} */
    public Impairment withCorruption(double value) {
        return new Impairment(loss, duplication, value, reordering, delay, jitter, stall,
                cut, reset, seed);
    }

    /** {@return the same with another share of overtaken packets} */
    public Impairment withReordering(double value) {
        return new Impairment(loss, duplication, corruption, value, delay, jitter, stall,
                cut, reset, seed);
    }

    /** {@return the same with another delay} */
    public Impairment withDelay(Duration value) {
        return new Impairment(loss, duplication, corruption, reordering, value, jitter, stall,
                cut, reset, seed);
    }

    /** {@return the same with another jitter} */
    public Impairment withJitter(Duration value) {
        return new Impairment(loss, duplication, corruption, reordering, delay, value, stall,
                cut, reset, seed);
    }

    /** {@return the same with another share of writes by which a stream stands still} */
    public Impairment withStall(double value) {
        return new Impairment(loss, duplication, corruption, reordering, delay, jitter, value,
                cut, reset, seed);
    }

    /** {@return the same with another share of writes in whose middle a stream ends} */
    public Impairment withCut(double value) {
        return new Impairment(loss, duplication, corruption, reordering, delay, jitter, stall,
                value, reset, seed);
    }

    /** {@return the same with another share of writes in whose middle the connection is reset} */
    public Impairment withReset(double value) {
        return new Impairment(loss, duplication, corruption, reordering, delay, jitter, stall,
                cut, value, seed);
    }

    /** {@return the same with another seed} */
    public Impairment withSeed(long value) {
        return new Impairment(loss, duplication, corruption, reordering, delay, jitter, stall,
                cut, reset, value);
    }

    /**
     * {@return the impairment that a text describes, such as {@code none} or {@code
     * loss=1%,delay=2ms,jitter=500us,reorder=5%,duplicate=1%,corrupt=0.1%,seed=7}, for streams also {@code
     * stall=1%,cut=0.1%,reset=0.1%}}
     *
     * @throws IllegalArgumentException with a message that names the error and the valid form
     */
    public static Impairment parse(String text) {
        Impairment result = NONE;
        if (text.trim().equalsIgnoreCase("none")) {
            return result;
        }
        for (String part : text.split(",", -1)) {
            int equals = part.indexOf('=');
            String name = (equals < 0 ? part : part.substring(0, equals)).trim()
                    .toLowerCase(Locale.ROOT);
            String value = equals < 0 ? "" : part.substring(equals + 1).trim();
            result = switch (name) {
                case "loss" -> result.withLoss(share(name, value));
                case "duplicate" -> result.withDuplication(share(name, value));
                case "corrupt" -> result.withCorruption(share(name, value));
                case "reorder" -> result.withReordering(share(name, value));
                case "delay" -> result.withDelay(time(name, value));
                case "jitter" -> result.withJitter(time(name, value));
                case "stall" -> result.withStall(share(name, value));
                case "cut" -> result.withCut(share(name, value));
                case "reset" -> result.withReset(share(name, value));
                case "seed" -> result.withSeed(number(name, value));
                default -> throw new IllegalArgumentException("'" + name + "' is no impairment;"
                        + " there are loss, duplicate, corrupt, reorder, delay, jitter, stall, cut,"
                        + " reset and seed");
            };
        }
        return result;
    }

    /** {@return the text of this impairment for {@link #parse}, {@code none} if there is none} */
    @Override
    public String toString() {
        if (isNone()) {
            return "none";
        }
        StringJoiner parts = new StringJoiner(",");
        addShare(parts, "loss", loss);
        addShare(parts, "duplicate", duplication);
        addShare(parts, "corrupt", corruption);
        addShare(parts, "reorder", reordering);
        addTime(parts, "delay", delay);
        addTime(parts, "jitter", jitter);
        addShare(parts, "stall", stall);
        addShare(parts, "cut", cut);
        addShare(parts, "reset", reset);
        return parts.add("seed=" + seed).toString();
    }

    private static void addShare(StringJoiner parts, String name, double share) {
        if (share != 0) {
            parts.add(name + "=" + share);
        }
    }

    private static void addTime(StringJoiner parts, String name, Duration time) {
        if (!time.isZero()) {
            BigDecimal microseconds = BigDecimal.valueOf(time.toNanos(), 3).stripTrailingZeros();
            parts.add(name + "=" + microseconds.toPlainString() + "us");
        }
    }

    private static double share(String name, String text) {
        boolean isPercent = text.endsWith("%");
        try {
            double value = Double.parseDouble(
                    isPercent ? text.substring(0, text.length() - 1) : text);
            return isPercent ? value / 100 : value;
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException(
                    name + " must be a share such as 1% or 0.01, not '" + text + "'", e);
        }
    }

    private static Duration time(String name, String text) {
        String digits = text.replaceAll("[a-z]+$", "");
        String unit = text.substring(digits.length());
        long perUnitNs = switch (unit) {
            case "us" -> 1_000;
            case "ms" -> 1_000_000;
            case "s" -> 1_000_000_000;
            default -> 0;
        };
        try {
            double value = Double.parseDouble(digits);
            if (perUnitNs != 0 && value >= 0 && value * perUnitNs < 1e15) {
                return Duration.ofNanos((long) (value * perUnitNs));
            }
        } catch (NumberFormatException e) {
            // Reported below.
        }
        throw new IllegalArgumentException(
                name + " must be a time such as 500us, 2ms or 1s, not '" + text + "'");
    }

    private static long number(String name, String text) {
        try {
            return Long.parseLong(text);
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException(name + " must be a whole number, not '" + text + "'",
                    e);
        }
    }
}
