// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.observe.registry;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * System properties by which other processes find this one, such as {@code rdma4j.devices}: the names of what is open in order,
 * with commas between them. Classes of this project in several class loaders share them. Thread safe.
 */
final class PublishedNames {
    private PublishedNames() {}

    static void add(String property, String name) {
        System.getProperties().compute(property, (_, before) -> {
            List<String> names = names(before);
            names.add(name);
            names.sort(null);
            return String.join(",", names);
        });
    }

    /** Removes one of this name. */
    static void remove(String property, String name) {
        System.getProperties().compute(property, (_, before) -> {
            List<String> names = names(before);
            names.remove(name);
            return names.isEmpty() ? null : String.join(",", names);
        });
    }

    private static List<String> names(Object joined) {
        return joined instanceof String text && !text.isEmpty()
                ? new ArrayList<>(Arrays.asList(text.split(",", -1)))
                : new ArrayList<>();
    }
}
