// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.ibverbs.abi;

import org.jspecify.annotations.Nullable;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.util.List;

/**
 * The parameter and result types of a function.
 *
 * @param result null for {@code void}
 * @param parameters in order
 * @param firstVariadic the index of the first variadic parameter, -1 if there is none
 */
public record Signature(@Nullable CType result, List<CType> parameters, int firstVariadic) {
    public Signature {
        parameters = List.copyOf(parameters);
    }

    static Signature of(CType result, CType... parameters) {
        return new Signature(result, List.of(parameters), -1);
    }

    static Signature ofVoid(CType... parameters) {
        return new Signature(null, List.of(parameters), -1);
    }

    static Signature variadic(int firstVariadic, CType result, CType... parameters) {
        return new Signature(result, List.of(parameters), firstVariadic);
    }

    /** {@return the linker options for calling it and capturing the error number} */
    Linker.Option[] options() {
        Linker.Option errno = Linker.Option.captureCallState("errno");
        return firstVariadic < 0
                ? new Linker.Option[]{errno}
                : new Linker.Option[]{errno, Linker.Option.firstVariadicArg(firstVariadic)};
    }

    /** {@return it for the linker} */
    public FunctionDescriptor descriptor() {
        MemoryLayout[] layouts = parameters.stream().map(CType::layout)
                .toArray(MemoryLayout[]::new);
        return result == null
                ? FunctionDescriptor.ofVoid(layouts)
                : FunctionDescriptor.of(result.layout(), layouts);
    }
}
