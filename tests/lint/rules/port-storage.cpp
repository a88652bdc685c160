void f(int x[64], int n) {
#pragma HLS interface ap_memory port=x
#pragma HLS interface s_axilite port=n
#pragma HLS bind_storage variable=x type=ram_2p impl=bram
    x[0] = n;
}
