package io.rdma4j.softnic.device;

import java.net.InetAddress;
import java.util.List;

/**
 * The state of a network interface at one moment.
 *
 * @param isPresent whether an interface of that name exists
 * @param isUp whether it carries packets
 * @param addresses its addresses
 */
public record PortView(boolean isPresent, boolean isUp, List<InetAddress> addresses) {}
