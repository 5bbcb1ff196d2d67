// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets;

import java.net.DatagramPacket;
import java.net.DatagramSocketImpl;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.SocketAddress;

/** For a datagram socket that asks its channel for everything: its constructor takes no null. Nothing of it is called. */
final class NoDatagrams extends DatagramSocketImpl {
    private static UnsupportedOperationException never() {
        return new UnsupportedOperationException("the channel of the socket does everything");
    }

    @Override
    protected void create() {
        throw never();
    }

    @Override
    protected void bind(int port, InetAddress address) {
        throw never();
    }

    @Override
    protected void send(DatagramPacket packet) {
        throw never();
    }

    @Override
    protected int peek(InetAddress address) {
        throw never();
    }

    @Override
    protected int peekData(DatagramPacket packet) {
        throw never();
    }

    @Override
    protected void receive(DatagramPacket packet) {
        throw never();
    }

    @Override
    @Deprecated
    @SuppressWarnings("removal")
    protected void setTTL(byte hops) {
        throw never();
    }

    @Override
    @Deprecated
    @SuppressWarnings("removal")
    protected byte getTTL() {
        throw never();
    }

    @Override
    protected void setTimeToLive(int hops) {
        throw never();
    }

    @Override
    protected int getTimeToLive() {
        throw never();
    }

    @Override
    protected void join(InetAddress group) {
        throw never();
    }

    @Override
    protected void leave(InetAddress group) {
        throw never();
    }

    @Override
    protected void joinGroup(SocketAddress group, NetworkInterface by) {
        throw never();
    }

    @Override
    protected void leaveGroup(SocketAddress group, NetworkInterface by) {
        throw never();
    }

    @Override
    protected void close() {
        throw never();
    }

    @Override
    public void setOption(int name, Object value) {
        throw never();
    }

    @Override
    public Object getOption(int name) {
        throw never();
    }
}
