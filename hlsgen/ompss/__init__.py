"""OmpSs-2@FPGA: what its compiler accepts."""
