// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.perftest;

import org.jspecify.annotations.Nullable;

import java.nio.file.Path;

/**
 * The output of the results.
 *
 * @param unit the unit of bandwidth
 * @param isSorted whether all times are printed, the shortest first
 * @param isUnsorted whether all times are printed in their order
 * @param jsonFile the file of the report for programs; null for none
 */
record ReportOptions(BandwidthUnit unit, boolean isSorted, boolean isUnsorted,
        @Nullable Path jsonFile) {}
