"""The schedule of C++ from LLVM IR."""
