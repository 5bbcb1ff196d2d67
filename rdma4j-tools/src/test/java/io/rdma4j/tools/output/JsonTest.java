// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.output;

import org.junit.jupiter.api.Test;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import static org.assertj.core.api.Assertions.assertThat;

/** JSON as programs read it. */
class JsonTest {
    private static final Map<String, Object> VALUE = new LinkedHashMap<>();

    static {
        VALUE.put("facts", Map.of("kernel", "6.1"));
        VALUE.put("trials", List.of(Map.of("times", List.of(1.5, 2L)), Map.of("isMet", true)));
        VALUE.put("note", "a \"b\" \\ \n");
    }

    @Test
    void textHasNoBlankAndStaysOnOneLine() {
        assertThat(Json.text(VALUE)).isEqualTo("{\"facts\":{\"kernel\":\"6.1\"},"
                + "\"trials\":[{\"times\":[1.5,2]},{\"isMet\":true}],"
                + "\"note\":\"a \\\"b\\\" \\\\ \\u000a\"}");
    }
}
