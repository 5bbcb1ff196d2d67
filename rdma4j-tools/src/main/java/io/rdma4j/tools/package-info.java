// SPDX-License-Identifier: Apache-2.0
/**
 * The command line: the demo, and the known RDMA tools under their own names.
 *
 * <p>Each command is a class in the package of its family. {@link io.rdma4j.tools.Main} joins them and turns failures into
 * one line and an exit status; nothing depends on it. Families do not know each other; what they share is in packages that
 * know no family: {@code options}, {@code output}, {@code tcp} and {@code endpoint}. Commands use only the API, as any
 * program would. They write to the streams of their command line and have no static state, so any number of them can
 * run in one process. Start reading at {@link io.rdma4j.tools.Main}.
 */
@NullMarked
package io.rdma4j.tools;

import org.jspecify.annotations.NullMarked;
