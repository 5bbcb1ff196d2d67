// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.endpoint;

import io.rdma4j.verbs.Gid;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InterfaceAddress;
import java.net.NetworkInterface;
import java.net.SocketException;

/**
 * Whether the GIDs of two sides can reach each other, as far as their TCP connection and the host tell. What cannot work is
 * refused before a packet is sent, because otherwise only the retries of the sender would end it, without a reason.
 *
 * @param local the address of this side's end of the connection
 * @param remote the address of the peer's end, as this side sees it
 * @param gidOption the option by which users choose another GID, on both sides
 * @param host what is known of this host
 */
public record PeerReach(InetAddress local, InetAddress remote, String gidOption, Host host) {
    /** What is known of a host's addresses. */
    public interface Host {
        /** {@return whether an address is one of this host's} */
        boolean isOwn(InetAddress address);

        /**
         * {@return whether packets to an address certainly pass a router if they leave by the interface of an own address}
         *
         * @param local the address of the interface
         * @param gid the GID they leave from; if it is of another interface, nothing is certain
         */
        boolean isRouted(InetAddress local, InetAddress remote, Gid gid);
    }

    /** This machine, as the system describes it. */
    private static final Host MACHINE = new Machine();

    /** {@return what two ends of a connection tell} */
    public static PeerReach over(InetAddress local, InetAddress remote, String gidOption) {
        return new PeerReach(local, remote, gidOption, MACHINE);
    }

    /**
     * Checks this side's GID, before the peer gets to know it.
     *
     * @throws IOException if the peer certainly cannot reach it
     */
    public void requireOwn(Gid own) throws IOException {
        if (own.isLoopback() && !isPeerHere()) {
            throw new IOException("this side's GID " + own.addressText() + " is a loopback address,"
                    + " which " + text(remote) + " cannot reach; start this side without -d and "
                    + gidOption + ", or with those of " + text(local) + at());
        }
        if (own.isLinkLocal() && host.isRouted(local, remote, own)) {
            throw new IOException("this side's GID " + own.addressText() + " is link-local, and "
                    + text(remote) + " is behind a router; start this side without " + gidOption
                    + ", or with that of " + text(local) + at());
        }
    }

    /**
     * Checks the peer's GID.
     *
     * @param own this side's GID
     * @throws IOException if packets certainly do not get there
     */
    public void requirePeer(Gid own, Gid peer) throws IOException {
        if (peer.isZero()) {
            throw new IOException("the peer told no GID, which RoCE needs; start it with "
                    + gidOption + " of its address " + text(remote) + at());
        }
        if (peer.isMulticast() || peer.address().isAnyLocalAddress()) {
            throw peers(peer, "is the address of no host");
        }
        if (peer.isLoopback() && !isPeerHere()) {
            throw peers(peer, "is a loopback address, which from here leads to this host itself");
        }
        if (peer.isLinkLocal() && host.isRouted(local, remote, own)) {
            throw peers(peer, "is link-local, and the peer is behind a router");
        }
    }

    private IOException peers(Gid peer, String problem) {
        return new IOException("the peer's GID " + peer.addressText() + " " + problem
                + "; start the peer with -d and " + gidOption + " of its address " + text(remote)
                + at());
    }

    private static String at() {
        return " (show_gids lists them)";
    }

    private boolean isPeerHere() {
        return remote.isLoopbackAddress() || host.isOwn(remote);
    }

    private static String text(InetAddress address) {
        return address.getHostAddress();
    }

    /** Asks the system. */
    private static final class Machine implements Host {
        @Override
        public boolean isOwn(InetAddress address) {
            try {
                return NetworkInterface.getByInetAddress(address) != null;
            } catch (SocketException unknown) {
                return false;
            }
        }

        @Override
        public boolean isRouted(InetAddress local, InetAddress remote, Gid gid) {
            if (remote.isLinkLocalAddress()) {
                return false;
            }
            try {
                NetworkInterface below = NetworkInterface.getByInetAddress(local);
                return below != null && !below.isPointToPoint()
                        && below.inetAddresses().anyMatch(gid.address()::equals)
                        && below.getInterfaceAddresses().stream()
                                .noneMatch(each -> mayReach(each, remote));
            } catch (SocketException unknown) {
                return false;
            }
        }

        /**
         * {@return whether an address may be in the network of an interface's address} That of a single address tells
         * nothing: the neighbours have routes then.
         */
        private static boolean mayReach(InterfaceAddress own, InetAddress address) {
            byte[] network = own.getAddress().getAddress();
            byte[] other = address.getAddress();
            if (network.length != other.length) {
                return false;
            }
            int bits = own.getNetworkPrefixLength();
            if (bits >= 8 * network.length) {
                return true;
            }
            for (int bit = 0; bit < bits; bit++) {
                if (((network[bit / 8] ^ other[bit / 8]) & 0x80 >> bit % 8) != 0) {
                    return false;
                }
            }
            return true;
        }
    }
}
