// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.cm;

import io.rdma4j.spi.JoinRequest;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;
import org.jspecify.annotations.Nullable;

import java.net.InetAddress;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The multicast groups an id has joined. */
final class IdGroups {
    private static final String JOIN = "join multicast group";

    private final IdStateMachine states;
    private final IdEvents events;
    private final IdAddresses addresses;
    private final IdOptions options;
    private final IdQueuePair queuePair;
    /** The groups by address. Guarded by this. */
    private final Map<InetAddress, GroupMember> groups = new LinkedHashMap<>();
    private boolean isClosed;

    IdGroups(IdStateMachine states, IdEvents events, IdAddresses addresses, IdOptions options,
            IdQueuePair queuePair) {
        this.states = states;
        this.events = events;
        this.addresses = addresses;
        this.options = options;
        this.queuePair = queuePair;
    }

    /**
     * Joins; an event reports the outcome.
     *
     * @param exchange says which datagrams the id sends
     */
    void join(IdExchange exchange, InetAddress group, MulticastMembership membership,
            @Nullable Object context) throws RdmaException {
        try (IdEvents.Step step = events.begin(JOIN)) {
            IdDatagram datagram = datagram(exchange);
            if (!group.isMulticastAddress()) {
                throw new RdmaException(Errno.EINVAL, JOIN,
                        group.getHostAddress() + " is no multicast address");
            }
            requireBeforeRoute();
            addresses.device();
            JoinRequest request = new JoinRequest(group, own(group), options.typeOfService(),
                    membership == MulticastMembership.SEND_ONLY_FULL_MEMBER);
            begin(datagram, request, context);
            step.complete(JOIN, CmEventType.MULTICAST_JOIN);
        }
    }

    /** As in Linux. */
    private void requireBeforeRoute() throws RdmaException {
        switch (states.now()) {
            case IDLE, BOUND, ADDRESS_RESOLVED -> {}
            case ROUTE_RESOLVED, LISTENING, REQUESTED, CONNECTING, ACCEPTING, CONNECTED, ENDED ->
                throw new RdmaException(Errno.EINVAL, JOIN,
                        states.now().hint()
                                + "; an id joins while it is bound or its address resolved");
            case REMOVED, CLOSED -> throw states.wrong(JOIN);
        }
    }

    private static IdDatagram datagram(IdExchange exchange) throws RdmaException {
        if (exchange instanceof IdDatagram datagram) {
            return datagram;
        }
        throw new RdmaException(Errno.EINVAL, JOIN, "an id in port space "
                + exchange.kind.space() + " has connections; datagrams go in port space UDP");
    }

    /** {@return the source address of datagrams to a group} */
    private InetAddress own(InetAddress group) throws RdmaException {
        InetAddress own = addresses.local(JOIN).getAddress();
        if (own.getClass() != group.getClass()) {
            throw new RdmaException(Errno.EINVAL, JOIN, group.getHostAddress() + " and "
                    + own.getHostAddress() + " are not of the same IP version");
        }
        return own;
    }

    private void begin(IdDatagram datagram, JoinRequest request, @Nullable Object context)
            throws RdmaException {
        GroupMember member = new GroupMember(events, queuePair, request, datagram.qkey(), context,
                this::forget);
        add(request.group(), member);
        try {
            if (!member.join(datagram.services(JOIN))) {
                requireOpen();
            }
        } catch (RdmaException e) {
            forget(member);
            if (events.isSynchronous()) {
                throw e;
            }
            events.publish(CmEventType.MULTICAST_ERROR, EventDetails.notJoined(e, context));
        }
    }

    private synchronized void add(InetAddress group, GroupMember member) throws RdmaException {
        requireOpen();
        if (groups.putIfAbsent(group, member) != null) {
            throw new RdmaException(Errno.EADDRINUSE, JOIN,
                    "the id has joined " + group.getHostAddress() + " already");
        }
    }

    private synchronized void requireOpen() {
        if (isClosed) {
            throw IdStateMachine.closed();
        }
    }

    private synchronized void forget(GroupMember member) {
        groups.values().remove(member);
    }

    void leave(InetAddress group) throws RdmaException {
        GroupMember left = remove(group);
        if (left == null) {
            throw new RdmaException(Errno.EADDRNOTAVAIL, "leave multicast group",
                    "the id has not joined " + group.getHostAddress());
        }
        left.leave();
    }

    private synchronized @Nullable GroupMember remove(InetAddress group) {
        return groups.remove(group);
    }

    private synchronized List<GroupMember> members() {
        return List.copyOf(groups.values());
    }

    /** The queue pair is closed; the id stays a member. */
    void detachAll() throws RdmaException {
        for (GroupMember member : members()) {
            member.detach();
        }
    }

    /** The id is closed, and its queue pair is detached. */
    void close() throws RdmaException {
        synchronized (this) {
            isClosed = true;
        }
        for (GroupMember member : members()) {
            member.leave();
            forget(member);
        }
    }
}
