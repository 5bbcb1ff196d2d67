// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.io.IOException;
import java.io.InputStream;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassModel;
import java.lang.classfile.MethodModel;
import java.lang.classfile.attribute.CodeAttribute;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;

/** Methods that compilers shall not inline, so that what they call is compiled once and not with each caller: ADR 56. */
class CompilationUnitsTest {
    /** HotSpot inlines no method with more bytes of bytecode: {@code FreqInlineSize}. */
    private static final int LONGEST_INLINED = 325;

    @ParameterizedTest
    @CsvSource({"roce.PacketDispatcher, dispatch", "roce.RoceLink, send",
        "network.ring.RingReader, read", "engine.Engine, transmit", "engine.EngineDriver, poll"})
    void isTooLongToBeInlined(String type, String method) throws IOException {
        List<MethodModel> found = read(type).methods().stream()
                .filter(each -> each.methodName().equalsString(method)).toList();
        assertThat(found).hasSize(1);
        CodeAttribute code = (CodeAttribute) found.getFirst().code().orElseThrow();
        assertThat(code.codeLength()).isGreaterThan(LONGEST_INLINED);
    }

    private static ClassModel read(String type) throws IOException {
        String file = "/io/rdma4j/softnic/" + type.replace('.', '/') + ".class";
        try (InputStream bytes = CompilationUnitsTest.class.getResourceAsStream(file)) {
            return ClassFile.of().parse(bytes.readAllBytes());
        }
    }
}
