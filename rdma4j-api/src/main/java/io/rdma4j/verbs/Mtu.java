// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.verbs;

import org.jspecify.annotations.Nullable;

/**
 * The most payload bytes of one packet.
 *
 * <p>C: {@code enum} {@index ibv_mtu}. Source: IBTA 3.5.1.
 *
 * @since 0.1.0
 */
public enum Mtu {
    /** 256 bytes. C: {@index IBV_MTU_256}. */
    MTU_256(1, 256),
    /** 512 bytes. C: {@index IBV_MTU_512}. */
    MTU_512(2, 512),
    /** 1024 bytes. C: {@index IBV_MTU_1024}. */
    MTU_1024(3, 1024),
    /** 2048 bytes. C: {@index IBV_MTU_2048}. */
    MTU_2048(4, 2048),
    /** 4096 bytes. C: {@index IBV_MTU_4096}. */
    MTU_4096(5, 4096);

    private final int code;
    private final int bytes;

    Mtu(int code, int bytes) {
        this.code = code;
        this.bytes = bytes;
    }

    /** {@return the number verbs.h and the wire give this} */
    public int code() {
        return code;
    }

    /** {@return the payload bytes of a full packet} */
    public int bytes() {
        return bytes;
    }

    /**
     * {@return the smaller of the two}
     *
     * @param a one
     * @param b the other
     */
    public static Mtu min(Mtu a, Mtu b) {
        return a.compareTo(b) <= 0 ? a : b;
    }

    /**
     * {@return the MTU of that code, or null}
     *
     * @param code as in the C headers
     */
    public static @Nullable Mtu ofCode(int code) {
        for (Mtu mtu : VALUES) {
            if (mtu.code == code) {
                return mtu;
            }
        }
        return null;
    }

    /**
     * {@return the MTU of that many bytes, or null}
     *
     * @param bytes of payload
     */
    public static @Nullable Mtu ofBytes(int bytes) {
        for (Mtu mtu : VALUES) {
            if (mtu.bytes == bytes) {
                return mtu;
            }
        }
        return null;
    }

    private static final Mtu[] VALUES = values();
}
