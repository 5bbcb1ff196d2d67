// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.ibverbs.verbs;

import io.rdma4j.ibverbs.device.AsyncEventTarget;
import io.rdma4j.ibverbs.observe.ShownContext;
import io.rdma4j.observe.jmx.QueuePairData;
import io.rdma4j.verbs.Gid;
import io.rdma4j.verbs.GidEntry;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairAttribute;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.RdmaException;

import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The view of an open context for observers. Objects that are closed meanwhile, or cannot be queried any more, are left
 * out.
 *
 * @param context the context
 */
record ContextView(NativeContext context) implements ShownContext {
    @Override
    public String device() {
        return context.device().name();
    }

    @Override
    public List<Gid> gids() {
        try {
            return context.queryGidTable().stream().map(GidEntry::gid).toList();
        } catch (RdmaException | IllegalStateException gone) {
            return List.of();
        }
    }

    @Override
    public Map<String, Long> counters() {
        return context.counters();
    }

    @Override
    public int queuePairCount() {
        return context.services().events().queuePairs().size();
    }

    @Override
    public List<QueuePairData> queuePairs() {
        return context.services().events().queuePairs().values().stream().map(ContextView::data)
                .flatMap(Optional::stream).toList();
    }

    private static Optional<QueuePairData> data(AsyncEventTarget target) {
        if (!(target instanceof QueuePair queuePair)) {
            return Optional.empty();
        }
        try {
            QueuePairAttributes known = queuePair.query();
            boolean hasPeer = known.isSet(QueuePairAttribute.ADDRESS_VECTOR)
                    && !known.addressVector().destination().isZero();
            return Optional.of(new QueuePairData(queuePair.number(), queuePair.type().name(),
                    known.state().name(),
                    hasPeer ? known.addressVector().destination().address().getHostAddress() : "",
                    hasPeer ? known.destinationQueuePairNumber() : 0, "", Map.of()));
        } catch (RdmaException | IllegalStateException gone) {
            return Optional.empty();
        }
    }
}
