// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.perftest;

import io.rdma4j.tools.output.Json;
import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** A report for programs, written anew with each result: one object, or an array of them if there are several. */
final class JsonFile {
    private final @Nullable Path path;
    private final Map<String, Object> test = new LinkedHashMap<>();
    private final List<Object> results = new ArrayList<>();

    /** The file; null for none. */
    JsonFile(@Nullable Path path) {
        this.path = path;
    }

    void test(String title, Map<String, Object> facts) {
        test.put("test", title);
        facts.forEach((name, value) -> test.put(name.replace('-', '_'), value));
    }

    void result(Map<String, Object> values) throws IOException {
        Path file = path;
        if (file == null) {
            return;
        }
        results.add(values);
        Map<String, Object> all = new LinkedHashMap<>();
        all.put("test_info", test);
        all.put("results", results.size() == 1 ? values : results);
        Files.writeString(file, Json.text(all) + System.lineSeparator());
    }
}
