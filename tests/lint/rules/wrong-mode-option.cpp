void f(int *x) {
#pragma HLS interface m_axi port=x offset=slave bundle=gmem storage_type=ram_2p
#pragma HLS interface s_axilite port=x bundle=control max_read_burst_length=64
}
