// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.testkit;

import java.util.List;

/**
 * A run of the suite or of some of its classes, which is one table of the report.
 *
 * @param device the name of the device, the same on every machine
 * @param path what the packets travel over and how connections were made, in a few words
 * @param profile which cases the device must pass
 * @param classes the classes of the suite that the run consists of
 */
public record ConformanceRun(String device, String path, ConformanceProfile profile,
        List<Class<?>> classes) {
    /** Copies the list. */
    public ConformanceRun {
        classes = List.copyOf(classes);
    }
}
