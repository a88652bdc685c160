"""A network as tasks of StarPU: parts on CPUs by ONNX Runtime, on an FPGA by their kernels."""
