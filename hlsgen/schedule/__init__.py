"""The schedule of HLS C++: intervals, chains and operations, from LLVM IR of exact widths."""
