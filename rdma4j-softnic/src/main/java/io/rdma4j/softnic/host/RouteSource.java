// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.host;

import io.rdma4j.softnic.network.linux.route.RouteSocket;

import java.io.IOException;

/** The network interfaces as Linux describes them, which reports each change. */
final class RouteSource implements HostSource {
    private final RouteSocket socket;

    RouteSource(RouteSocket socket) {
        this.socket = socket;
    }

    @Override
    public boolean mayHaveChanged() {
        return socket.hasNotifications();
    }

    @Override
    public Host look() throws IOException {
        RouteMessages messages = new RouteMessages();
        socket.listLinks(messages::onLink);
        socket.listAddresses(messages::onAddress);
        return messages.host();
    }

    @Override
    public void await(long mostNs) {
        socket.await(mostNs);
    }

    @Override
    public void wake() {
        socket.wake();
    }

    @Override
    public void close() {
        socket.close();
    }
}
