"""Stand-ins for the vendor's tools: shell scripts that record their calls and write believable files.

They know nothing of hardware. What a test wants of them stands in the environment:
STAND_IN_FAIL names a step (csynth, cosim, export, link, package) that ends with an error; STAND_IN_SILENT one
that ends well and writes nothing; STAND_IN_HANG one that starts a further process, in a session of its own,
and never ends. Their process ids go to pids.txt.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tests.support import vendor_reports

PLATFORMS = ("xilinx_u200_gen3x16_xdma_2_202110_1", "xilinx_zcu102_base_202320_1")
SYSTEM = "/usr/bin:/bin"

COMMON = """#!/bin/sh
here=$(dirname "$0")
echo "$(basename "$0") [$HLSGEN_STEPS] $*" >> "$here/calls.txt"
misbehave() {
    case "$STAND_IN_FAIL" in "$1")
        echo "INFO: [HLS 200-10] at work"
        echo "ERROR: [HLS 207-3777] use of undeclared identifier 'x' in $1"
        exit 1 ;;
    esac
    case "$STAND_IN_HANG" in "$1")
        echo "INFO: [HLS 200-10] hanging in $1"
        setsid sleep 600 &
        echo "$$ $!" >> "$here/pids.txt"
        wait
        sleep 600 ;;
    esac
    test "$STAND_IN_SILENT" != "$1"
}
"""

HLS = """
for kernel in ${HLSGEN_KERNELS:-conv}; do
    for step in $HLSGEN_STEPS; do
        misbehave "$step" || continue
        echo "INFO: [HLS 200-1510] Running: ${step}_design"
        solution="${kernel}_hls/solution1"
        mkdir -p "$solution/syn/report" "$solution/sim/report"
        case $step in
        csynth) sed "s/KERNEL/$kernel/" "$here/csynth.xml" > "$solution/syn/report/csynth.xml" ;;
        cosim) sed "s/KERNEL/$kernel/" "$here/cosim.rpt" > "$solution/sim/report/${kernel}_cosim.rpt" ;;
        export) echo "$kernel" > "$kernel.xo" ;;
        esac
    done
done
"""

VPP = """
out= temp= folder=
mode=$1
previous=
for word in "$@"; do
    case $previous in
    -o) out=$word ;;
    --temp_dir) temp=$word ;;
    --package.out_dir) folder=$word ;;
    esac
    previous=$word
done
if [ "$mode" = -l ]; then
    misbehave link || exit 0
    echo "[19:05:17] Run vpl: Step create_project: Started"
    echo "[19:06:23] Run vpl: Step synth: Started"
    echo "[19:16:23] Run vpl: Step impl: Started"
    mkdir -p "$temp/reports/link/imp" "$temp/link/vivado"
    cp "$here/link.rpt" "$temp/reports/link/imp/impl_1_kernel_util_routed.rpt"
    echo "of the whole device" > "$temp/reports/link/imp/impl_1_slr_util_routed.rpt"
    echo "of some part" > "$temp/link/vivado/ulp_utilization_synth.rpt"
    echo linked > "$out"
else
    misbehave package || exit 0
    mkdir -p "$folder"
    [ -z "$out" ] || echo packaged > "$out"
    touch "$folder/sd_card.img"
    printf '#!/bin/sh\\necho "launched $*"; echo "$STAND_IN_SAYS"\\n' > "$folder/launch_hw_emu.sh"
    chmod +x "$folder/launch_hw_emu.sh"
fi
"""

EMCONFIG = """
while [ $# -gt 1 ]; do
    [ "$1" != --od ] || echo '{}' > "$2/emconfig.json"
    shift
done
"""

HOST = """NAME := conv
.PHONY: host run
host: $(NAME)_host
$(NAME)_host: main.cpp
\t@echo "SYSROOT=$(SYSROOT)"
\ttouch $@
run: host
\t@test "$(TARGET)" = hw || test -e emconfig.json
\t@echo "ran $(XCLBIN) $(TARGET) $(DATA) $(ARGS)"
\t@echo "$$STAND_IN_SAYS"
"""


@dataclass(frozen=True)
class VendorTools:
    """A folder of stand-ins, and the environment that a user with them has."""

    folder: Path

    @property
    def environment(self) -> dict[str, str]:
        vitis = self.folder / "vitis"
        return {
            "PATH": f"{self.folder}:{SYSTEM}",
            "XILINX_VITIS": str(vitis),
            "XILINX_XRT": str(self.folder / "xrt"),
            "EDGE_COMMON_SW": str(self.folder / "common"),
            "STAND_IN_SAYS": "TEST PASSED",
        }

    def calls(self) -> list[str]:
        path = self.folder / "calls.txt"
        lines = path.read_text().splitlines() if path.exists() else []
        return [line for line in lines if not line.endswith("ersion")]

    def pids(self) -> list[int]:
        path = self.folder / "pids.txt"
        return [int(word) for word in path.read_text().split()] if path.exists() else []


def vendor_tools(
    folder: Path,
    release: str = "2023.2",
    *,
    names: tuple[str, ...] = ("vitis_hls", "vitis-run", "v++", "emconfigutil"),
    kernels: tuple[str, ...] = ("conv",),
) -> VendorTools:
    """The stand-ins called `names`, of one release, with both boards' platforms and a common image."""
    folder.mkdir(parents=True)
    told = {
        "vitis_hls": f"Vitis HLS - High-Level Synthesis from C, C++ and OpenCL v{release} (64-bit)",
        "vitis-run": f"****** vitis-run v{release} (64-bit)",
        "v++": f"****** v++ v{release} (64-bit)",
    }
    bodies = {"vitis_hls": HLS, "vitis-run": HLS, "v++": VPP, "emconfigutil": EMCONFIG}
    for name in names:
        version = f'case $1 in -version|--version) echo "{told.get(name, "")}"; exit ;; esac\n'
        (folder / name).write_text(COMMON + version + bodies[name])
        (folder / name).chmod(0o755)
    (folder / "csynth.xml").write_text(vendor_reports.csynth(top="KERNEL", latency="undef"))
    (folder / "cosim.rpt").write_text(vendor_reports.cosim(top="KERNEL"))
    (folder / "link.rpt").write_text(
        vendor_reports.link({kernel: vendor_reports.FIGURES for kernel in kernels})
    )
    for name in PLATFORMS:
        platform = folder / "vitis/base_platforms" / name / f"{name}.xpfm"
        platform.parent.mkdir(parents=True)
        platform.touch()
    compiler = folder / "vitis/gnu/aarch64/lin/aarch64-linux/bin/aarch64-linux-gnu-g++"
    compiler.parent.mkdir(parents=True)
    compiler.touch(0o755)
    (folder / "xrt/include").mkdir(parents=True)
    (folder / "common/sysroots/cortexa72-cortexa53-xilinx-linux/usr/include").mkdir(parents=True)
    for name in ("rootfs.ext4", "Image"):
        (folder / "common" / name).touch()
    return VendorTools(folder)


def host_program(build: Path) -> None:
    """A stand-in for the host program's folder: its Makefile says what it was asked for."""
    (build / "host").mkdir(exist_ok=True)
    (build / "host/Makefile").write_text(HOST)
    (build / "host/main.cpp").touch()
