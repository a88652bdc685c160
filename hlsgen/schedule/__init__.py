"""What the vendor's scheduler will make of C++: II, chains and operations of pipelined loops, from LLVM IR."""
