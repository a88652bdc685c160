struct pair { int a, b; };

void f(int (&x)[8], pair *p, int *bus) {
#pragma HLS interface ap_bus port=bus
#pragma HLS resource variable=x core=RAM_2P_BRAM
#pragma HLS data_pack variable=p
#pragma HLS stream variable=x depth=4 off
    for (int i = 0; i < 8; ++i) {
#pragma HLS pipeline II=1 enable_flush
        x[i] = i;
    }
}
