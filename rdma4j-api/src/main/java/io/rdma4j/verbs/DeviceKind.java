package io.rdma4j.verbs;

/** Who carries out a device's work. Where several devices serve an address, the kind that stands first is taken. */
public enum DeviceKind {
    /** A network adapter, or a driver of the operating system's. */
    NATIVE,
    /** This process, on ordinary sockets. */
    SOFTWARE
}
