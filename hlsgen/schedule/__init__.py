"""What the vendor's scheduler will make of C++, from LLVM IR: II, chains, operations of pipelined loops."""
