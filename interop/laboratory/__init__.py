"""Linux guests with kernel RDMA, wired to this machine and to nothing else."""
