// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.testkit.junit;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/** System properties that are as before in the end. */
final class ChangedProperties implements AutoCloseable {
    private final Map<String, Optional<String>> before = new LinkedHashMap<>();

    void set(String name, String value) {
        before.putIfAbsent(name, Optional.ofNullable(System.setProperty(name, value)));
    }

    @Override
    public void close() {
        before.forEach((name, value) -> value.ifPresentOrElse(
                earlier -> System.setProperty(name, earlier), () -> System.clearProperty(name)));
    }
}
