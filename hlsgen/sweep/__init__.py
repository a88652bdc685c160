"""Many designs, boards and targets: in turn, on the cores of this machine, or on a cluster."""
