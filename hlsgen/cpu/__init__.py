"""Parts of a network on a CPU, in float32: as ONNX models and PyTorch functions, run and measured."""
