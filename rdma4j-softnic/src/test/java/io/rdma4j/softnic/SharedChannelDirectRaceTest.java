// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.ExtendWith;

/** As {@link SharedChannelRaceTest} where packets do not leave the process. */
@Tag("stress")
@ExtendWith(ChosenLoopback.Direct.class)
class SharedChannelDirectRaceTest extends SharedChannelRaceTest {
    SharedChannelDirectRaceTest() throws Exception {}
}
