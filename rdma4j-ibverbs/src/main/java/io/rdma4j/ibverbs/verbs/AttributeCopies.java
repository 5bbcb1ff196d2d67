package io.rdma4j.ibverbs.verbs;

import io.rdma4j.verbs.CompletionField;
import io.rdma4j.verbs.CompletionQueueInitAttributes;
import io.rdma4j.verbs.SharedReceiveQueueInitAttributes;

/**
 * Copies of a program's attributes. The program may change its own at any time, so without a copy the checked values, those
 * passed to the library and those stored in the object could differ.
 */
final class AttributeCopies {
    private AttributeCopies() {}

    static CompletionQueueInitAttributes of(CompletionQueueInitAttributes given) {
        return new CompletionQueueInitAttributes().capacity(given.capacity())
                .channel(given.channel()).userContext(given.userContext())
                .completionVector(given.completionVector())
                .fields(given.fields().toArray(CompletionField[]::new))
                .singleThreaded(given.singleThreaded()).ignoreOverrun(given.ignoreOverrun())
                .parentDomain(given.parentDomain());
    }

    static SharedReceiveQueueInitAttributes of(SharedReceiveQueueInitAttributes given) {
        return new SharedReceiveQueueInitAttributes().type(given.type())
                .attributes(given.attributes()).xrcDomain(given.xrcDomain())
                .completionQueue(given.completionQueue()).userContext(given.userContext());
    }
}
