/**
 * The command line: the demo, and the tools RDMA people know, under their own names.
 *
 * <p>Each command is a class; {@link io.rdma4j.tools.Main} joins them and turns failures into one line and
 * an exit status. Commands use the API alone, as any program would. Start reading at
 * {@link io.rdma4j.tools.Main}.
 */
@NullMarked
package io.rdma4j.tools;

import org.jspecify.annotations.NullMarked;
