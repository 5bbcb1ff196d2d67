// SPDX-License-Identifier: Apache-2.0
/**
 * The programs of the course in {@code docs/course}: one for each lesson, with both sides of a connection in one process.
 *
 * <p>They leave out what a program in use needs, such as options and time limits; the examples in {@code io.rdma4j.examples}
 * have it. Begin with {@link io.rdma4j.examples.course.Lesson}, which lists them.
 */
@NullMarked
package io.rdma4j.examples.course;

import org.jspecify.annotations.NullMarked;
