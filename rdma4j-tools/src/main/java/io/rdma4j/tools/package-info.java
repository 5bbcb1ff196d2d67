/**
 * The command line: the demo, and the tools RDMA people know, under their own names.
 *
 * <p>Each command is a class in the package of its family; {@link io.rdma4j.tools.Main} joins them and turns failures into
 * one line and an exit status, and nothing depends on it. What families share is in packages that know no family:
 * {@code options}, {@code output}, {@code tcp} and {@code endpoint}. Commands use the API alone, as any program would; they
 * write to the streams of their command line and hold nothing static, so that any number run in one process. Start reading
 * at {@link io.rdma4j.tools.Main}.
 */
@NullMarked
package io.rdma4j.tools;

import org.jspecify.annotations.NullMarked;
