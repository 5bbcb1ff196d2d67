package io.rdma4j.softnic.network.stream;

import io.rdma4j.softnic.network.linux.TcpDiagnosis;

import java.net.InetSocketAddress;

/** What a system tells of its TCP connections beside what the JDK's channels do. */
@FunctionalInterface
public interface Acknowledgements {
    /** A system that tells nothing. */
    Acknowledgements UNKNOWN = (local, remote) -> true;

    /** {@return what this system tells, if this program may ask it} */
    static Acknowledgements ofSystem() {
        return TcpDiagnosis.isPossible() ? TcpDiagnosis::isAcknowledged : UNKNOWN;
    }

    /** {@return whether the other side's system has all that was written, true if that cannot be known} */
    boolean isAcknowledged(InetSocketAddress local, InetSocketAddress remote);
}
