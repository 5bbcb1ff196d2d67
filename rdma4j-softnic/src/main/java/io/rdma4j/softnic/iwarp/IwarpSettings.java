package io.rdma4j.softnic.iwarp;

import io.rdma4j.protocol.iwarp.MpaSettings;
import io.rdma4j.softnic.device.SoftNicOptions;
import io.rdma4j.verbs.RdmaException;

/**
 * How a device speaks iWARP.
 *
 * @param mpa what it wants of its connections
 * @param holdNs for how long a responder keeps quiet whose initiator has not promised to speak first: Linux's siw takes what
 *        comes right behind the reply for a fault
 * @param patience how long it waits for peers
 */
record IwarpSettings(MpaSettings mpa, long holdNs, IwarpPatience patience) {
    private static final int HOLD_MS = 100;
    private static final int MAX_HOLD_MS = 60_000;

    /**
     * {@return what the system properties {@code rdma4j.iwarp.crc}, whether to ask for a CRC, and {@code rdma4j.iwarp.hold}, in
     * milliseconds, say}
     *
     * @param patience how long it waits for peers
     * @throws RdmaException EINVAL naming the property that cannot be understood
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
