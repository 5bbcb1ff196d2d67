// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.pingpong;

import io.rdma4j.verbs.Mtu;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** A path MTU in bytes. */
final class MtuBytes implements ITypeConverter<Mtu> {
    @Override
    public Mtu convert(String value) {
        for (Mtu mtu : Mtu.values()) {
            if (value.equals(Integer.toString(mtu.bytes()))) {
                return mtu;
            }
        }
        throw new TypeConversionException(
                "'" + value + "' is no path MTU; 256, 512, 1024, 2048 and 4096 are");
    }
}
