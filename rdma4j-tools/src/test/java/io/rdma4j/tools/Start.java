// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools;

import java.io.IOException;
import java.util.List;

/** How a command is run: {@link Command#start(List) in a thread} or {@link Program#Program(List) in a process}. */
@FunctionalInterface
interface Start {
    Running run(List<String> arguments) throws IOException;
}
