"""Linux guests with kernel RDMA, connected only to this machine."""
