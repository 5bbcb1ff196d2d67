// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.structure.upper;

import java.util.ArrayList;
import java.util.List;

/** Has a container, behind a class of its own. */
final class Registry {
    static final Registry OF_PROCESS = new Registry();
    static final List<String> FIXED = List.of("one");
    static int count;

    private final List<String> all = new ArrayList<>();

    private Registry() {}

    List<String> all() {
        return all;
    }
}
