package io.rdma4j.ibverbs.abi;

import org.jspecify.annotations.Nullable;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemoryLayout;
import java.util.List;

/**
 * What a function takes and returns.
 *
 * @param result null for {@code void}
 * @param parameters in order
 */
public record Signature(@Nullable CType result, List<CType> parameters) {
    public Signature {
        parameters = List.copyOf(parameters);
    }

    static Signature of(CType result, CType... parameters) {
        return new Signature(result, List.of(parameters));
    }

    static Signature ofVoid(CType... parameters) {
        return new Signature(null, List.of(parameters));
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
