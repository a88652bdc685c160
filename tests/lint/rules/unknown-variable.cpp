void f(int (&input)[8]) {
#pragma HLS array_partition variable=inputs complete
    for (int i = 0; i < 8; ++i) {
        int row[4] = {};
        input[i] = row[i % 4];
    }
#pragma HLS bind_storage variable=row type=ram_2p impl=lutram
}
