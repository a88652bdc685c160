"""The Arm processors beside an FPGA: what compiles for them, and what an SD card starts on them.

Names are those of the Makefiles of Vitis_Accel_Examples (hello_world/makefile_zynqmp.mk and
makefile_zynq7000.mk) and of AMD's common images.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class HostCpu:
    """triple: of the cross compiler. tools: where Vitis has it, below its folder gnu. sysroot: below the
    common image's folder sysroots. kernel: the file of Linux there.
    """

    triple: str
    tools: str
    sysroot: str
    kernel: str


HOST_CPUS = {
    "zynqmp": HostCpu(
        triple="aarch64-linux-gnu",
        tools="aarch64/lin/aarch64-linux/bin",
        sysroot="cortexa72-cortexa53-xilinx-linux",
        kernel="Image",
    ),
    "zynq": HostCpu(
        triple="arm-linux-gnueabihf",
        tools="aarch32/lin/gcc-arm-linux-gnueabi/bin",
        sysroot="cortexa9t2hf-neon-xilinx-linux-gnueabi",
        kernel="uImage",
    ),
}
"""By the flow of a board; a card's host is the PC that it is in."""
