"""ONNX and QONNX models -> graph."""
