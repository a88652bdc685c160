// A macro that opens a function: what belongs to what cannot be told.
#define BEGIN(name) void name() {

BEGIN(f)
    int sums[4];
#pragma HLS array_partition variable=sums complete
}

void g() {
    hls::stream<int> a("a");
#pragma HLS pipeline II=0
}
