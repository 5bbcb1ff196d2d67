// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.examples;

import java.io.ByteArrayOutputStream;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.util.List;

/** What a program prints. */
final class Output {
    private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    final PrintWriter out = new PrintWriter(bytes, true, StandardCharsets.UTF_8);

    List<String> lines() {
        return bytes.toString(StandardCharsets.UTF_8).lines().toList();
    }
}
