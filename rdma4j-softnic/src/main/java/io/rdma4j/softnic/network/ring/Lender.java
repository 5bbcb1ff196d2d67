// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.network.ring;

/** The pages of a device of this process, of which it lends payloads. For the owner of the engine. */
public interface Lender {
    /** {@return the nonce of the device's mailbox, by which others know it} */
    long nonce();

    /** {@return the file descriptor of the pages} */
    int descriptor();
}
