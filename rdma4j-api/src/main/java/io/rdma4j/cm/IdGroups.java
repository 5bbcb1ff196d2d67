package io.rdma4j.cm;

import io.rdma4j.verbs.AddressHandleAttributes;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.Gid;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairType;
import io.rdma4j.verbs.RdmaException;
import org.jspecify.annotations.Nullable;

import java.net.InetAddress;
import java.util.LinkedHashMap;
import java.util.Map;

/** The multicast groups an id has joined. */
final class IdGroups {
    private final CmId id;
    /** The groups, and the queue pair that is attached, null for none. */
    private final Map<Gid, Membership> groups = new LinkedHashMap<>();

    private record Membership(@Nullable QueuePair attached) {}

    IdGroups(CmId id) {
        this.id = id;
    }

    /** Joins and reports it as an event. */
    void join(InetAddress address, MulticastMembership membership, @Nullable Object context)
            throws RdmaException {
        String operation = "join multicast group";
        if (id.queuePairType() != QueuePairType.UD) {
            throw new RdmaException(Errno.EINVAL, operation, "an id in port space "
                    + id.portSpace() + " has connections; datagrams go in port space UDP");
        }
        Gid group = Gid.of(address);
        if (!group.isMulticast()) {
            throw new RdmaException(Errno.EINVAL, operation,
                    address.getHostAddress() + " is no multicast address");
        }
        id.addresses.device();
        InetAddress own = id.addresses.local(operation).getAddress();
        if (Gid.of(own).isIpv4() != group.isIpv4()) {
            throw new RdmaException(Errno.EINVAL, operation, address.getHostAddress() + " and "
                    + own.getHostAddress() + " are not of the same IP version");
        }
        try {
            DatagramParameters parameters = enter(group, membership, operation);
            id.events.publish(CmEventType.MULTICAST_JOIN,
                    EventDetails.joined(parameters, context));
        } catch (RdmaException e) {
            if (e.errno() == Errno.EADDRINUSE || id.events.isSynchronous()) {
                throw e;
            }
            id.events.publish(CmEventType.MULTICAST_ERROR,
                    EventDetails.notJoined(e, context));
        }
        id.events.complete(operation, CmEventType.MULTICAST_JOIN);
    }

    private synchronized DatagramParameters enter(Gid group, MulticastMembership membership,
            String operation) throws RdmaException {
        if (groups.containsKey(group)) {
            throw new RdmaException(Errno.EADDRINUSE, operation,
                    "the id has joined " + group.addressText() + " already");
        }
        AddressHandleAttributes path = AddressHandleAttributes
                .to(group, id.addresses.gidIndex()).withTrafficClass(id.options.typeOfService);
        QueuePair receiver = membership == MulticastMembership.FULL_MEMBER
                ? id.queues.queuePair()
                : null;
        if (receiver != null) {
            receiver.attachMulticast(group);
        }
        groups.put(group, new Membership(receiver));
        return new DatagramParameters(path, DatagramParameters.MULTICAST_QUEUE_PAIR, id.link.qkey(),
                new byte[0]);
    }

    synchronized void leave(InetAddress address) throws RdmaException {
        Membership left = groups.remove(Gid.of(address));
        if (left == null) {
            throw new RdmaException(Errno.EADDRNOTAVAIL, "leave multicast group",
                    "the id has not joined " + address.getHostAddress());
        }
        if (left.attached != null) {
            left.attached.detachMulticast(Gid.of(address));
        }
    }

    /** The queue pair goes away; the id stays a member. */
    synchronized void detachAll() throws RdmaException {
        for (Map.Entry<Gid, Membership> group : groups.entrySet()) {
            QueuePair attached = group.getValue().attached;
            if (attached != null) {
                attached.detachMulticast(group.getKey());
                group.setValue(new Membership(null));
            }
        }
    }
}
