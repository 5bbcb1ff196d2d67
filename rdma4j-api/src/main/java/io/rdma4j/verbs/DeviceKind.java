package io.rdma4j.verbs;

/** Whether hardware or software does a device's work. If several devices serve an address, the first kind here is taken. */
public enum DeviceKind {
    /** A network adapter, or a software driver of the operating system. */
    NATIVE,
    /** This process, on ordinary sockets. */
    SOFTWARE
}
