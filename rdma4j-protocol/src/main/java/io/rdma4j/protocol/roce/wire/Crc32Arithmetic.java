// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.protocol.roce.wire;

/**
 * Running a CRC-32 backwards over zero bytes.
 *
 * <p>A CRC register is a polynomial over GF(2) modulo the CRC's own; feeding a zero byte multiplies it
 * by x^8, so running back multiplies by the inverse. Bits are reflected as in {@code CRC32}: bit 31 is
 * the coefficient of x^0.
 */
final class Crc32Arithmetic {
    private static final int POLYNOMIAL = 0xedb8_8320;
    /** The longest distance that is kept ready: every packet of a path MTU of 4096 fits. */
    private static final int KEPT = 4352;
    /** x^(-8 n) for each n. */
    private static final int[] INVERSE = new int[KEPT];

    static {
        int power = 1 << 31;
        for (int n = 0; n < KEPT; n++) {
            INVERSE[n] = power;
            for (int bit = 0; bit < 8; bit++) {
                power = divideByX(power);
            }
        }
    }

    private Crc32Arithmetic() {}

    /** {@return the register that zero bytes turned into {@code register}} */
    static int rewind(int register, int zeroBytes) {
        int result = register;
        int left = zeroBytes;
        while (left >= KEPT) {
            result = multiply(result, INVERSE[KEPT - 1]);
            left -= KEPT - 1;
        }
        return multiply(result, INVERSE[left]);
    }

    private static int multiplyByX(int a) {
        return a >>> 1 ^ ((a & 1) == 0 ? 0 : POLYNOMIAL);
    }

    private static int divideByX(int a) {
        return a < 0 ? (a ^ POLYNOMIAL) << 1 | 1 : a << 1;
    }

    private static int multiply(int a, int b) {
        int product = 0;
        int shifted = b;
        for (int bit = 31; bit >= 0; bit--) {
            if ((a >>> bit & 1) != 0) {
                product ^= shifted;
            }
            shifted = multiplyByX(shifted);
        }
        return product;
    }
}
