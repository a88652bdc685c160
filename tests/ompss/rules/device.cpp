#pragma oss task device(cuda) num_instances(1) // EXPECT num_instances cannot be used with other devices than fpga
void f();

#pragma oss task copy_in([1]i) // EXPECT copy_in cannot be used with other devices than fpga
void g(int *i);
