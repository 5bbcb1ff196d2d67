// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.device;

import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;
import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

class OwnedObjectsTest {
    private final OwnedObjects objects = new OwnedObjects();
    private final List<String> closed = new ArrayList<>();

    private final class Thing implements OwnedObjects.Owned {
        final ObjectKind kind;
        final String name;
        boolean isBusy;

        Thing(ObjectKind kind, String name) {
            this.kind = kind;
            this.name = name;
            objects.add(kind, this);
        }

        @Override
        public void close() throws RdmaException {
            if (isBusy) {
                throw new RdmaException(Errno.EBUSY, "close " + name, "it is busy");
            }
            closed.add(name);
            objects.remove(kind, this);
        }
    }

    @Test
    void kindsAreClosedInTheirOrderAndOfOneKindTheNewestFirst() throws Exception {
        new Thing(ObjectKind.PROTECTION_DOMAIN, "domain");
        new Thing(ObjectKind.PROTECTION_DOMAIN, "parent domain");
        new Thing(ObjectKind.COMPLETION_QUEUE, "queue");
        new Thing(ObjectKind.QUEUE_PAIR, "pair");
        new Thing(ObjectKind.MEMORY_REGION, "region");
        new Thing(ObjectKind.MEMORY_WINDOW, "window");

        objects.closeAll(() -> closed.add("context"));

        assertThat(closed).containsExactly("window", "pair", "region", "queue", "parent domain",
                "domain", "context");
        objects.closeAll(() -> closed.add("context again"));
        assertThat(closed).endsWith("context", "context again");
    }

    @Test
    void whatCannotBeClosedKeepsOnlyItsContextOpen() throws Exception {
        Thing domain = new Thing(ObjectKind.PROTECTION_DOMAIN, "domain");
        Thing queue = new Thing(ObjectKind.COMPLETION_QUEUE, "queue");
        new Thing(ObjectKind.QUEUE_PAIR, "pair");
        domain.isBusy = true;
        queue.isBusy = true;

        RdmaException failure = assertThatExceptionOfType(RdmaException.class)
                .isThrownBy(() -> objects.closeAll(() -> closed.add("context"))).actual();

        assertThat(failure).hasMessageContaining("close queue");
        assertThat(failure.getSuppressed()).singleElement().asString().contains("close domain");
        assertThat(closed).containsExactly("pair");
        domain.isBusy = false;
        queue.isBusy = false;
        objects.closeAll(() -> closed.add("context"));
        assertThat(closed).containsExactly("pair", "queue", "domain", "context");
    }
}
