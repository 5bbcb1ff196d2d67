// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic;

import io.rdma4j.verbs.RdmaException;
import org.junit.jupiter.api.extension.ExtendWith;

/** As {@link SharedChannelTest} where packets do not leave the process. */
@ExtendWith(ChosenLoopback.Direct.class)
class SharedChannelDirectTest extends SharedChannelTest {
    SharedChannelDirectTest() throws RdmaException {}
}
