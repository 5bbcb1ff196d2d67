// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.options;

import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.TypeConversionException;

/** Numbers as C programs take them: decimal, or hexadecimal after {@code 0x}, or octal after {@code 0}. */
public final class WholeNumber implements ITypeConverter<Long> {
    /** Called by the command line. */
    public WholeNumber() {}

    @Override
    public Long convert(String value) {
        try {
            return Long.decode(value);
        } catch (NumberFormatException e) {
            throw new TypeConversionException("'" + value + "' is not a whole number");
        }
    }

    /** Refuses a value of an option that is out of range. */
    public static void requireRange(CommandSpec spec, String option, long value, long lowest,
            long highest) {
        if (value < lowest || value > highest) {
            throw new ParameterException(spec.commandLine(), option + " must be from " + lowest
                    + " to " + highest + ", not " + value);
        }
    }

    /** {@return a value of an option that is in range} */
    public static int checked(CommandSpec spec, String option, long value, long lowest,
            int highest) {
        requireRange(spec, option, value, lowest, highest);
        return (int) value;
    }
}
