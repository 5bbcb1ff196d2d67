// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.protocol.ibcm;

/** A management datagram: its fixed header. Source: IBTA 13.4.3. */
final class Mad {
    static final int LENGTH = 256;
    static final int HEADER_LENGTH = 24;
    /** The offset of the attribute, which names the message. */
    static final int ATTRIBUTE = 16;

    /** Base version 1, class communication management, class version 2, method send. */
    static final int COMMUNICATION_MANAGEMENT_SEND = 0x01070203;

    private Mad() {}
}
