"""The headers beside ap_: kernels compile with them, streams and burst ports check how they are used."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.support.header_programs import INCLUDE, STRICT, compile_program, reference_include, run

KERNEL = r"""
#include <ap_fixed.h>
#include <hls_burst_maxi.h>
#include <hls_stream.h>
typedef ap_fixed<16, 6> in_t;
typedef ap_fixed<40, 16> acc_t;
typedef ap_fixed<16, 6, AP_RND_CONV, AP_SAT> out_t;
void load(hls::burst_maxi<ap_uint<256> > port, hls::stream<in_t>& out) {
    port.read_request(0, 2);
    for (int word = 0; word < 2; ++word) {
        const ap_uint<256> lanes = port.read();
        for (int lane = 0; lane < 16; ++lane) {
            in_t x;
            x.range(15, 0) = lanes.range(16 * lane + 15, 16 * lane);
            out.write(x);
        }
    }
}
out_t dot(hls::stream<in_t>& in, const in_t weights[32]) {
    acc_t acc = 0;
    for (int i = 0; i < 32; ++i) acc += in.read() * weights[i];
    return acc;
}
int main() {
    static ap_uint<256> memory[2];
    in_t weights[32];
    for (int i = 0; i < 32; ++i) {
        memory[i / 16].range(16 * (i % 16) + 15, 16 * (i % 16)) = i * 64 - 1000;
        weights[i].range(15, 0) = 300 - 11 * i;
    }
    hls::stream<in_t, 32> pixels("pixels");
    load(memory, pixels);
    const out_t sum = dot(pixels, weights);
    long long expected = 0;
    for (int i = 0; i < 32; ++i) expected += (long long)(i * 64 - 1000) * (300 - 11 * i);
    return pixels.empty() && sum == out_t(expected / 1048576.0) ? 0 : 1;
}
"""


@pytest.mark.parametrize(("standard", "level"), [("c++11", "-O3"), ("c++14", "-O0")])
def test_kernel_compiles_without_warnings(tmp_path: Path, standard: str, level: str) -> None:
    includes = (f"-I{INCLUDE / 'fast'}", f"-I{INCLUDE / 'common'}")
    program = compile_program(tmp_path, "kernel", KERNEL, f"-std={standard}", level, *STRICT, *includes)
    assert run(program).returncode == 0


def test_common_headers_work_with_the_reference(tmp_path: Path) -> None:
    flags = ("-Wno-uninitialized", "-Wno-maybe-uninitialized", f"-isystem{reference_include()}")
    program = compile_program(
        tmp_path, "kernel", KERNEL, "-std=c++14", *STRICT, *flags, f"-I{INCLUDE / 'common'}"
    )
    assert run(program).returncode == 0


STREAMS = r"""
#include <hls_stream.h>
int main() {
    hls::stream<int> queue("row_buffer");
    hls::stream<int, 4> bounded;
    int expected = 0, written = 0;
    for (int round = 1; round < 400; ++round) {
        for (int i = 0; i < round; ++i) queue << written++;
        for (int i = 0; i < round - (round % 3 == 0); ++i) {
            int item;
            queue >> item;
            if (item != expected++) return 1;
        }
    }
    int last;
    bounded.write(7);
    if (!bounded.read_nb(last) || last != 7 || bounded.read_nb(last) || bounded.full()) return 2;
    if (queue.size() != unsigned(written - expected)) return 3;
    while (!queue.empty())
        if (queue.read() != expected++) return 4;
    queue.read();
    return 5;
}
"""


def test_stream_is_a_queue_and_reading_it_empty_ends_the_program(tmp_path: Path) -> None:
    program = compile_program(
        tmp_path, "streams", STREAMS, "-std=c++11", "-O1", *STRICT, f"-I{INCLUDE / 'common'}"
    )
    done = run(program)
    assert done.returncode == 70
    assert "'row_buffer': read while empty" in done.stderr


BURST = r"""
#include <cstdlib>
#include <hls_burst_maxi.h>
typedef hls::burst_maxi<int> port_t;
static int memory[8] = {1, 2, 3, 4, 5, 6, 7, 8};
static int drain(port_t port) { return port.read() + port.read(); }
static void finish(port_t port) { port.write(40); port.write_response(); }
static int right() {
    port_t port(memory);
    port.read_request(6, 1);
    port.read_request(1, 2);
    if (port.read() != 7 || drain(port) != 5) return 1;
    port.write_request(0, 2);
    port.write_request(4, 1);
    port.write(10);
    port.write(20);
    port.write_response();
    finish(port);
    return memory[0] == 10 && memory[1] == 20 && memory[4] == 40 && memory[5] == 6 ? 0 : 2;
}
int main(int, char** arguments) {
    const int fault = std::atoi(arguments[1]);
    if (fault == 0) return right();
    port_t port(memory);
    if (fault == 1) port.read();
    if (fault == 2) { port.read_request(0, 1); port.read(); port.read(); }
    if (fault == 3) port.write(1);
    if (fault == 4) { port.write_request(0, 2); port.write(1); port.write_response(); }
    if (fault == 5) port.write_response();
    if (fault == 6) port.read_request(0, 0);
    if (fault == 7) port.read_request(0, 2);
    if (fault == 8) port.write_request(0, 2);
    if (fault == 9) { port.write_request(0, 1); port.write(1); }
    if (fault == 10) for (int i = 0; i < 257; ++i) port.read_request(0, 1);
    return 0;
}
"""
FAULTS = (
    "read: no beat of a read_request is left",
    "read: no beat of a read_request is left",
    "write: no beat of a write_request is left",
    "write_response: no write_request has all its beats written",
    "write_response: no write_request has all its beats written",
    "read_request: the length is 0",
    "end of the port's scope: requested data was never read",
    "end of the port's scope: requested data was never written",
    "end of the port's scope: write_response is missing",
    "read_request: 256 requests are outstanding",
)


def test_burst_port_checks_the_protocol(tmp_path: Path) -> None:
    program = compile_program(
        tmp_path, "burst", BURST, "-std=c++11", "-O2", *STRICT, f"-I{INCLUDE / 'common'}"
    )
    right = subprocess.run([str(program), "0"], capture_output=True, text=True, check=False)
    assert (right.returncode, right.stderr) == (0, "")
    for number, message in enumerate(FAULTS, start=1):
        done = subprocess.run([str(program), str(number)], capture_output=True, text=True, check=False)
        assert done.returncode == 70
        assert message in done.stderr
