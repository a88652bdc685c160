"""A convolution kernel -> {path: content}: everything its build folder holds but the reports."""

from __future__ import annotations

from hlsgen.base.fixed import Codes
from hlsgen.base.version import VERSION
from hlsgen.cost.cycles import interval
from hlsgen.designfile.clock import Clock
from hlsgen.emit.bank_picture import bank_picture
from hlsgen.emit.conv2d import kernel_constants, kernel_files
from hlsgen.emit.environment import safe_comment
from hlsgen.emit.ompss import ompss_files
from hlsgen.emit.plan import KernelNames, Plan, npy_bytes
from hlsgen.emit.project import csim_header_files, project_files
from hlsgen.emit.vitis import named_instances, vitis_files
from hlsgen.emit.xrt import conv_interface, host_files
from hlsgen.search.placement import Deployment


def conv_kernel_plan(
    deployment: Deployment, *, name: str, source: str, uncertainty: float, frames: Codes, golden: Codes
) -> Plan:
    """All files of the build folder but the reports. `frames` and `golden` are the testbench's data, in
    codes; uncertainty: of the clock, relative.
    """
    clock = Clock(mhz=deployment.clock_mhz, uncertainty=uncertainty)
    mapping = deployment.mapping
    k = kernel_constants(mapping, KernelNames(kernel=name, source=safe_comment(source)))
    layer = mapping.layer
    plan: Plan = {**kernel_files(mapping, k, VERSION)}
    plan["tb/input.npy"] = npy_bytes(frames, layer.input_type)
    plan["tb/weights.npy"] = npy_bytes(layer.weights, layer.weight_type)
    if layer.bias.size:
        plan["tb/biases.npy"] = npy_bytes(layer.bias, layer.bias_type)
    plan["tb/golden.npy"] = npy_bytes(golden, layer.result_type)
    plan["banks.svg"] = bank_picture(mapping.wave, mapping.bank_map, mapping.in_lanes)
    plan |= csim_header_files()
    plan |= vitis_files(deployment, clock, k, VERSION)
    plan |= ompss_files(deployment, clock, k, VERSION)
    interface = conv_interface(
        mapping,
        name=name,
        source=source,
        units=[instance["name"] for instance in named_instances(deployment, name)],
        board=deployment.board.title,
        clock_mhz=deployment.clock_mhz,
        frame_cycles=interval(mapping),
    )
    plan |= host_files(interface, VERSION)
    plan |= project_files(deployment, k, VERSION)
    return plan
