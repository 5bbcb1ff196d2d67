// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.structure;

import java.io.IOException;
import java.io.InputStream;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassModel;
import java.lang.classfile.MethodModel;
import java.lang.classfile.attribute.CodeAttribute;
import java.util.List;
import java.util.Objects;

import static org.assertj.core.api.Assertions.assertThat;

/** Methods that compilers shall not inline, so that what they call is compiled once and not with each caller: ADR 56. */
public final class LongMethods {
    /** HotSpot inlines no method with more bytes of bytecode: {@code FreqInlineSize}. */
    private static final int LONGEST_INLINED = 325;

    private LongMethods() {}

    /**
     * Fails if a method is short enough for a compiler to inline it.
     *
     * @param type the name of its class, behind {@code io.rdma4j.}
     * @param method the name of the only method of that name
     */
    public static void assertTooLongToBeInlined(String type, String method) throws IOException {
        List<MethodModel> found = read(type).methods().stream()
                .filter(each -> each.methodName().equalsString(method)).toList();
        assertThat(found).hasSize(1);
        CodeAttribute code = (CodeAttribute) found.getFirst().code().orElseThrow();
        assertThat(code.codeLength()).as(type + '.' + method).isGreaterThan(LONGEST_INLINED);
    }

    private static ClassModel read(String type) throws IOException {
        String file = "/io/rdma4j/" + type.replace('.', '/') + ".class";
        try (InputStream bytes = Objects.requireNonNull(
                LongMethods.class.getResourceAsStream(file), file)) {
            return ClassFile.of().parse(bytes.readAllBytes());
        }
    }
}
