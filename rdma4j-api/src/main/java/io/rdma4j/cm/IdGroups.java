package io.rdma4j.cm;

import io.rdma4j.connection.DatagramParameters;
import io.rdma4j.verbs.AddressHandleAttributes;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.Gid;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.RdmaException;
import org.jspecify.annotations.Nullable;

import java.net.InetAddress;
import java.util.LinkedHashMap;
import java.util.Map;

/** The multicast groups an id has joined. */
final class IdGroups {
    private static final String JOIN = "join multicast group";

    private final IdEvents events;
    private final IdAddresses addresses;
    private final IdOptions options;
    private final IdQueuePair queuePair;
    /** The groups by address. */
    private final Map<InetAddress, Membership> groups = new LinkedHashMap<>();

    /**
     * @param gid what the device calls the group
     * @param attached the queue pair that receives, null for none
     */
    private record Membership(Gid gid, @Nullable QueuePair attached) {}

    IdGroups(IdEvents events, IdAddresses addresses, IdOptions options, IdQueuePair queuePair) {
        this.events = events;
        this.addresses = addresses;
        this.options = options;
        this.queuePair = queuePair;
    }

    /**
     * Joins and reports it as an event.
     *
     * @param exchange says which datagrams the id sends
     */
    void join(IdExchange exchange, InetAddress group, MulticastMembership membership,
            @Nullable Object context) throws RdmaException {
        if (!(exchange instanceof IdDatagram datagram)) {
            throw new RdmaException(Errno.EINVAL, JOIN, "an id in port space "
                    + exchange.kind.space()
                    + " has connections; datagrams go in port space UDP");
        }
        if (!group.isMulticastAddress()) {
            throw new RdmaException(Errno.EINVAL, JOIN,
                    group.getHostAddress() + " is no multicast address");
        }
        addresses.device();
        InetAddress own = addresses.local(JOIN).getAddress();
        if (own.getClass() != group.getClass()) {
            throw new RdmaException(Errno.EINVAL, JOIN, group.getHostAddress() + " and "
                    + own.getHostAddress() + " are not of the same IP version");
        }
        try {
            DatagramParameters parameters = enter(datagram, group, own, membership);
            events.publish(CmEventType.MULTICAST_JOIN, EventDetails.joined(parameters, context));
        } catch (RdmaException e) {
            if (e.errno() == Errno.EADDRINUSE || events.isSynchronous()) {
                throw e;
            }
            events.publish(CmEventType.MULTICAST_ERROR, EventDetails.notJoined(e, context));
        }
        events.complete(JOIN, CmEventType.MULTICAST_JOIN);
    }

    private synchronized DatagramParameters enter(IdDatagram datagram, InetAddress group,
            InetAddress own, MulticastMembership membership) throws RdmaException {
        if (groups.containsKey(group)) {
            throw new RdmaException(Errno.EADDRINUSE, JOIN,
                    "the id has joined " + group.getHostAddress() + " already");
        }
        AddressHandleAttributes path = datagram.services(JOIN).groupPath(group, own,
                options.typeOfService);
        QueuePair receiver = membership == MulticastMembership.FULL_MEMBER
                ? queuePair.queuePair()
                : null;
        if (receiver != null) {
            receiver.attachMulticast(path.destination());
        }
        groups.put(group, new Membership(path.destination(), receiver));
        return new DatagramParameters(path, DatagramParameters.MULTICAST_QUEUE_PAIR,
                datagram.qkey(), new byte[0]);
    }

    synchronized void leave(InetAddress group) throws RdmaException {
        Membership left = groups.remove(group);
        if (left == null) {
            throw new RdmaException(Errno.EADDRNOTAVAIL, "leave multicast group",
                    "the id has not joined " + group.getHostAddress());
        }
        if (left.attached != null) {
            left.attached.detachMulticast(left.gid);
        }
    }

    /** The queue pair goes away; the id stays a member. */
    synchronized void detachAll() throws RdmaException {
        for (Map.Entry<InetAddress, Membership> group : groups.entrySet()) {
            Membership membership = group.getValue();
            if (membership.attached != null) {
                membership.attached.detachMulticast(membership.gid);
                group.setValue(new Membership(membership.gid, null));
            }
        }
    }
}
