package io.rdma4j.softnic.network.stream;

import io.rdma4j.verbs.RdmaException;

/** Byte streams on the JDK's channels. */
class PortableStreamsTest extends StreamContract {
    PortableStreamsTest() throws RdmaException {
        super(new PortableStreams());
    }
}
