// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.structure.upper;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Semaphore;

/** Has a container behind an interface, and something that threads share; what never changes is no state. */
interface Shelf {
    Shelf OF_PROCESS = new Full();
    Semaphore PLACES = new Semaphore(1);

    int size();

    /** Changes. */
    final class Full implements Shelf {
        private final List<String> all = new ArrayList<>();

        @Override
        public int size() {
            return all.size();
        }
    }

    /** Does not. */
    final class Empty implements Shelf {
        static final Shelf ONLY = new Empty();

        @Override
        public int size() {
            return 0;
        }
    }
}
