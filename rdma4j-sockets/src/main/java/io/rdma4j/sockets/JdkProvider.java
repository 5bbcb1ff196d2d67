package io.rdma4j.sockets;

import java.nio.channels.spi.SelectorProvider;

/** The provider of the JDK's own channels. */
final class JdkProvider {
    private JdkProvider() {}

    /**
     * {@return that provider}
     *
     * @throws UnsupportedOperationException if the JVM's provider is of this module, and hides the other
     */
    static SelectorProvider provider() {
        SelectorProvider provider = SelectorProvider.provider();
        if (provider instanceof RdmaSelectorProvider) {
            throw new UnsupportedOperationException(
                    "the JDK's own channels cannot be opened while " + provider.getClass().getName()
                            + " is the provider of the JVM");
        }
        return provider;
    }
}
