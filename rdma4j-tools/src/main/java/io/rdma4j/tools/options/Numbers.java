// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.options;

import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Numbers given as arguments, each kind with its range. */
public final class Numbers {
    private static final int LAST_PORT = 65535;

    private Numbers() {}

    /** A port; 0 for any. */
    public static final class Port implements ITypeConverter<Integer> {
        @Override
        public Integer convert(String value) {
            return wholeNumber(value, 0, LAST_PORT);
        }
    }

    /** A port a program listens on. */
    public static final class PeerPort implements ITypeConverter<Integer> {
        @Override
        public Integer convert(String value) {
            return wholeNumber(value, 1, LAST_PORT);
        }
    }

    /** How often something is to be done; 0 for no end. */
    public static final class Count implements ITypeConverter<Integer> {
        @Override
        public Integer convert(String value) {
            return wholeNumber(value, 0, Integer.MAX_VALUE);
        }
    }

    /** A port of a device. */
    public static final class DevicePort implements ITypeConverter<Integer> {
        @Override
        public Integer convert(String value) {
            return wholeNumber(value, 1, 255);
        }
    }

    private static int wholeNumber(String value, int lowest, int highest) {
        try {
            int number = Integer.parseInt(value);
            if (number >= lowest && number <= highest) {
                return number;
            }
        } catch (NumberFormatException notANumber) {
            // As wrong as one out of range.
        }
        throw new TypeConversionException(
                "'" + value + "' is not a whole number from " + lowest + " to " + highest);
    }
}
