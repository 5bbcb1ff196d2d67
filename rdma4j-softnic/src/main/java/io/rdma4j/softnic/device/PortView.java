package io.rdma4j.softnic.device;

import java.net.InetAddress;
import java.util.List;

/**
 * How a network interface looked at one moment.
 *
 * @param isPresent whether there still is one of that name
 * @param isUp whether it carries packets
 * @param addresses its addresses
 */
record PortView(boolean isPresent, boolean isUp, List<InetAddress> addresses) {}
