package io.rdma4j.ibverbs.abi;

import org.jspecify.annotations.Nullable;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.util.List;

/**
 * What a function takes and returns.
 *
 * @param result null for {@code void}
 * @param parameters in order
 * @param firstVariadic which parameter is the first of a variable number, -1 if none is
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

    /** {@return what the linker must know to call it with the error number kept} */
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
