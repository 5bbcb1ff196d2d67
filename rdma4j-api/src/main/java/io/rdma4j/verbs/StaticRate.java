package io.rdma4j.verbs;

/**
 * The rate of a path or a link.
 *
 * <p>C: {@code enum ibv_rate}, {@code ibv_rate_to_mult}, {@code ibv_rate_to_mbps},
 * {@code mult_to_ibv_rate}, {@code mbps_to_ibv_rate}. Source: IBTA 9.11.1.
 */
public enum StaticRate {
    /** As fast as the port. C: {@code IBV_RATE_MAX}. */
    MAX(0, -1, -1),
    /** 2.5 Gb/s. C: {@code IBV_RATE_2_5_GBPS}. */
    RATE_2_5(2, 1, 2_500),
    /** 5 Gb/s. C: {@code IBV_RATE_5_GBPS}. */
    RATE_5(5, 2, 5_000),
    /** 10 Gb/s. C: {@code IBV_RATE_10_GBPS}. */
    RATE_10(3, 4, 10_000),
    /** 20 Gb/s. C: {@code IBV_RATE_20_GBPS}. */
    RATE_20(6, 8, 20_000),
    /** 30 Gb/s. C: {@code IBV_RATE_30_GBPS}. */
    RATE_30(4, 12, 30_000),
    /** 40 Gb/s. C: {@code IBV_RATE_40_GBPS}. */
    RATE_40(7, 16, 40_000),
    /** 60 Gb/s. C: {@code IBV_RATE_60_GBPS}. */
    RATE_60(8, 24, 60_000),
    /** 80 Gb/s. C: {@code IBV_RATE_80_GBPS}. */
    RATE_80(9, 32, 80_000),
    /** 120 Gb/s. C: {@code IBV_RATE_120_GBPS}. */
    RATE_120(10, 48, 120_000),
    /** 14.0625 Gb/s. C: {@code IBV_RATE_14_GBPS}. */
    RATE_14(11, -1, 14_062),
    /** 56.25 Gb/s. C: {@code IBV_RATE_56_GBPS}. */
    RATE_56(12, -1, 56_250),
    /** 112.5 Gb/s. C: {@code IBV_RATE_112_GBPS}. */
    RATE_112(13, -1, 112_500),
    /** 168.75 Gb/s. C: {@code IBV_RATE_168_GBPS}. */
    RATE_168(14, -1, 168_750),
    /** 25.78125 Gb/s. C: {@code IBV_RATE_25_GBPS}. */
    RATE_25(15, -1, 25_781),
    /** 103.125 Gb/s. C: {@code IBV_RATE_100_GBPS}. */
    RATE_100(16, -1, 103_125),
    /** 206.25 Gb/s. C: {@code IBV_RATE_200_GBPS}. */
    RATE_200(17, -1, 206_250),
    /** 309.375 Gb/s. C: {@code IBV_RATE_300_GBPS}. */
    RATE_300(18, -1, 309_375),
    /** 28.125 Gb/s. C: {@code IBV_RATE_28_GBPS}. */
    RATE_28(19, 11, 28_125),
    /** 53.125 Gb/s. C: {@code IBV_RATE_50_GBPS}. */
    RATE_50(20, 20, 53_125),
    /** 425 Gb/s. C: {@code IBV_RATE_400_GBPS}. */
    RATE_400(21, 160, 425_000),
    /** 637.5 Gb/s. C: {@code IBV_RATE_600_GBPS}. */
    RATE_600(22, 240, 637_500),
    /** 850 Gb/s. C: {@code IBV_RATE_800_GBPS}. */
    RATE_800(23, 320, 850_000),
    /** 1275 Gb/s. C: {@code IBV_RATE_1200_GBPS}. */
    RATE_1200(24, 480, 1_275_000);

    private final int code;
    private final int multiple;
    private final int mbps;

    StaticRate(int code, int multiple, int mbps) {
        this.code = code;
        this.multiple = multiple;
        this.mbps = mbps;
    }

    /** {@return the number verbs.h gives this} */
    public int code() {
        return code;
    }

    /** {@return the multiple of 2.5 Gb/s, -1 where it is none} */
    public int multiple() {
        return multiple;
    }

    /** {@return megabits per second, -1 for {@link #MAX}} */
    public int mbps() {
        return mbps;
    }

    /** {@return the rate that is a multiple of 2.5 Gb/s, {@link #MAX} if there is none} */
    public static StaticRate ofMultiple(int multiple) {
        for (StaticRate rate : values()) {
            if (multiple > 0 && rate.multiple == multiple) {
                return rate;
            }
        }
        return MAX;
    }

    /** {@return the rate of that many megabits per second, {@link #MAX} if there is none} */
    public static StaticRate ofMbps(int mbps) {
        for (StaticRate rate : values()) {
            if (rate.mbps == mbps) {
                return rate;
            }
        }
        return MAX;
    }
}
