// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.structure.upper;

/** Is in another circle, with what is nested in {@link Fourth}. */
final class Third {
    Fourth.Nested[] nested = {};
}
