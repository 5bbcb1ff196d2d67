// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.iwarp;

import io.rdma4j.protocol.iwarp.MpaSettings;
import io.rdma4j.softnic.device.SoftNicOptions;
import io.rdma4j.verbs.RdmaException;

/**
 * The iWARP settings of a device.
 *
 * @param mpa the MPA options of its connections
 * @param holdNs how long a responder sends nothing if its initiator has not promised to send first: Linux's siw treats bytes
 *        right after the reply as an error
 * @param patience how long it waits for peers
 */
record IwarpSettings(MpaSettings mpa, long holdNs, IwarpPatience patience) {
    /** On a busy machine, siw was seen to look at a reply 265 ms after its system had acknowledged it. */
    private static final int HOLD_MS = 500;
    private static final int MAX_HOLD_MS = 60_000;

    /**
     * {@return the settings of the system properties {@code rdma4j.iwarp.crc}, whether to request a CRC, and {@code
     * rdma4j.iwarp.hold}, in milliseconds}
     *
     * @param patience how long it waits for peers
     * @throws RdmaException EINVAL naming the property that cannot be parsed
     */
    static IwarpSettings ofSystem(IwarpPatience patience) throws RdmaException {
        MpaSettings usual = MpaSettings.USUAL;
        boolean wantsCrc = SoftNicOptions.flag("rdma4j.iwarp.crc", usual.wantsCrc());
        return new IwarpSettings(
                new MpaSettings(wantsCrc, usual.isPeerToPeer(), usual.maxReads()),
                1_000_000L * SoftNicOptions.number("rdma4j.iwarp.hold", MAX_HOLD_MS, HOLD_MS),
                patience);
    }
}
