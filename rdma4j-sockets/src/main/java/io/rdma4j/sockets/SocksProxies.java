// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Proxy;
import java.net.ProxySelector;
import java.net.URI;
import java.net.URISyntaxException;
import java.util.List;

/** The proxies through which plain sockets over TCP connect, as the JDK asks for them: {@code socksProxyHost}, or a selector of the program. */
final class SocksProxies {
    private static final List<Proxy> NONE = List.of(Proxy.NO_PROXY);

    private SocksProxies() {}

    /** {@return what to try, one after the other; {@link Proxy#NO_PROXY} to connect without one} */
    static List<Proxy> to(InetSocketAddress address) throws IOException {
        ProxySelector selector = ProxySelector.getDefault();
        if (selector == null) {
            return NONE;
        }
        List<Proxy> proxies;
        try {
            proxies = selector.select(uri(address));
        } catch (IllegalArgumentException e) {
            throw new IOException("Failed to select a proxy", e);
        }
        // As the JDK: any other kind is none.
        return proxies.isEmpty()
                ? NONE
                : proxies.stream().map(each -> each.type() == Proxy.Type.SOCKS
                        ? each
                        : Proxy.NO_PROXY).toList();
    }

    /** The selector learns what does not work. */
    static void failed(InetSocketAddress address, Proxy proxy, IOException why) {
        ProxySelector selector = ProxySelector.getDefault();
        if (selector != null && proxy.type() == Proxy.Type.SOCKS) {
            selector.connectFailed(uri(address), proxy.address(), why);
        }
    }

    private static URI uri(InetSocketAddress address) {
        try {
            return new URI("socket", null, address.getHostString(), address.getPort(), null, null,
                    null);
        } catch (URISyntaxException e) {
            throw new IllegalArgumentException("no host of a URI: " + address, e);
        }
    }
}
