"""A convolution kernel -> {path: content}: everything its build folder holds but the reports."""

from __future__ import annotations

from hlsgen.base.fixed import Codes
from hlsgen.base.version import VERSION
from hlsgen.designfile.clock import Clock
from hlsgen.emit.bank_picture import bank_picture
from hlsgen.emit.conv2d import deployed_constants, kernel_files
from hlsgen.emit.environment import safe_comment
from hlsgen.emit.ompss import ompss_files
from hlsgen.emit.plan import Plan, npy_bytes
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
    mapping, layer = deployment.mapping, deployment.layer
    ks = deployed_constants(deployment, name, safe_comment(source))
    plan: Plan = {}
    for kernel, k in zip(deployment.kernels, ks, strict=True):
        plan |= kernel_files(kernel.mapping, k, VERSION)
    plan["tb/input.npy"] = npy_bytes(frames, layer.input_type)
    plan["tb/weights.npy"] = npy_bytes(layer.weights, layer.weight_type)
    if layer.bias.size:
        plan["tb/biases.npy"] = npy_bytes(layer.bias, layer.bias_type)
    plan["tb/golden.npy"] = npy_bytes(golden, layer.result_type)
    plan["banks.svg"] = bank_picture(mapping.wave, mapping.bank_map, mapping.in_lanes)
    plan |= csim_header_files()
    plan |= vitis_files(deployment, clock, ks, VERSION)
    plan |= ompss_files(deployment, clock, ks, VERSION)
    units = {
        k["name"]: [instance["name"] for instance in named_instances(kernel, k["name"])]
        for kernel, k in zip(deployment.kernels, ks, strict=True)
    }
    plan |= host_files(conv_interface(deployment, source=source, units=units), VERSION)
    plan |= project_files(deployment, ks, VERSION)
    return plan
