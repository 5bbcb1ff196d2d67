// SPDX-License-Identifier: Apache-2.0
/**
 * The wire format of iWARP in the byte stream: the frames that set a connection up (MPA), and the units that carry
 * messages afterwards (FPDUs, with the headers of DDP and RDMAP).
 *
 * <p>Sources: RFC 5040 (RDMAP), 5041 (DDP), 5044 (MPA), 6581 (enhanced set-up). Knows no connection, no queue and no socket.
 */
@NullMarked
package io.rdma4j.protocol.iwarp.wire;

import org.jspecify.annotations.NullMarked;
