"""What a kernel is, as data: pipeline, processes, ports, storage, banks, weights."""
