package io.rdma4j.tools.pingpong;

import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Numbers as C programs take them: decimal, or hexadecimal after {@code 0x}, or octal after {@code 0}. */
final class WholeNumber implements ITypeConverter<Long> {
    @Override
    public Long convert(String value) {
        try {
            return Long.decode(value);
        } catch (NumberFormatException e) {
            throw new TypeConversionException("'" + value + "' is not a whole number");
        }
    }
}
