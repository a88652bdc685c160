"""Writes .xclbin containers without a bitstream: enough for XRT to open kernels and to place buffers.

The layout is that of Debian's /usr/include/xrt/xclbin.h (axlf and its sections).
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

BITSTREAM, METADATA, MEM_TOPOLOGY, CONNECTIVITY, IP_LAYOUT = 0, 2, 6, 7, 8
GROUP_TOPOLOGY, GROUP_CONNECTIVITY = 26, 27
HW_EMU = 4
MEM_DDR4 = 1
IP_KERNEL = 1
UNIT_BYTES = 0x10000
FIRST_ARGUMENT = 0x10
POINTER_BYTES, SCALAR_BYTES = 8, 4


@dataclass(frozen=True, kw_only=True)
class Argument:
    """Of a kernel: a pointer into memory, or an int. reaches: its banks, if not its unit's alone."""

    name: str
    pointer: bool
    reaches: tuple[int, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Kernel:
    """units: by compute unit the index of the memory bank that each argument reaches, if it is a pointer."""

    name: str
    arguments: Sequence[Argument]
    units: Mapping[str, Sequence[int]]


def write_xclbin(path: Path, kernels: Sequence[Kernel], *, banks: int = 4) -> Path:
    """The container at `path`."""
    units = [(kernel, unit) for kernel in kernels for unit in kernel.units]
    topology = _topology(
        banks, {bank for kernel in kernels for all_of in kernel.units.values() for bank in all_of}
    )
    connections = _connections(units)
    sections = {
        BITSTREAM: bytes(16),
        METADATA: _metadata(kernels),
        MEM_TOPOLOGY: topology,
        GROUP_TOPOLOGY: topology,
        IP_LAYOUT: _ip_layout(units),
        CONNECTIVITY: connections,
        GROUP_CONNECTIVITY: connections,
    }
    path.write_bytes(_container(sections))
    return path


def _container(sections: Mapping[int, bytes]) -> bytes:
    offset = 456 + 40 * len(sections)
    headers, body = b"", b""
    for kind, content in sections.items():
        padded = content + bytes(-len(content) % 8)
        headers += struct.pack("<I16s4xQQ", kind, b"", offset + len(body), len(content))
        body += padded
    head = struct.pack("<8si28s256sQ", b"xclbin2", -1, b"\xff" * 28, b"", 0)
    head += struct.pack("<QQQHBBHH", offset + len(body), 1, 0, 0, 2, 1, HW_EMU, 0)
    head += struct.pack("<16s64s16s16sI4x", b"", b"test:platform", bytes(range(1, 17)), b"", len(sections))
    assert len(head) == 456, len(head)
    return head + headers + body


def _topology(banks: int, used: set[int]) -> bytes:
    content = struct.pack("<i4x", banks)
    for bank in range(banks):
        tag = f"DDR[{bank}]".encode()
        content += struct.pack("<BB6xQQ16s", MEM_DDR4, bank in used, 1 << 24, bank << 34, tag)
    return content


def _ip_layout(units: Sequence[tuple[Kernel, str]]) -> bytes:
    content = struct.pack("<i4x", len(units))
    for number, (kernel, unit) in enumerate(units):
        name = f"{kernel.name}:{unit}".encode()
        content += struct.pack("<IIQ64s", IP_KERNEL, 0, (number + 1) * UNIT_BYTES, name)
    return content


def _connections(units: Sequence[tuple[Kernel, str]]) -> bytes:
    found = [
        struct.pack("<iii", index, number, bank)
        for number, (kernel, unit) in enumerate(units)
        for index, argument in enumerate(kernel.arguments)
        if argument.pointer
        for bank in (argument.reaches or (kernel.units[unit][index],))
    ]
    return struct.pack("<i", len(found)) + b"".join(found)


def _metadata(kernels: Sequence[Kernel]) -> bytes:
    project = ElementTree.Element("project", name="test")
    platform = ElementTree.SubElement(project, "platform", vendor="test", boardid="test", name="test")
    device = ElementTree.SubElement(platform, "device", name="fpga0")
    core = ElementTree.SubElement(device, "core", name="OCL_REGION_0", target="hw_em")
    base = UNIT_BYTES
    for kernel in kernels:
        element = ElementTree.SubElement(
            core, "kernel", name=kernel.name, language="c", hwControlProtocol="ap_ctrl_chain"
        )
        ElementTree.SubElement(
            element, "port", name="S_AXI_CONTROL", mode="slave", range=hex(UNIT_BYTES), dataWidth="32"
        )
        _arguments(element, kernel)
        for unit in kernel.units:
            instance = ElementTree.SubElement(element, "instance", name=unit)
            ElementTree.SubElement(instance, "addrRemap", base=hex(base), port="S_AXI_CONTROL")
            base += UNIT_BYTES
    return ElementTree.tostring(project)


def _arguments(element: ElementTree.Element, kernel: Kernel) -> None:
    offset = FIRST_ARGUMENT
    for index, argument in enumerate(kernel.arguments):
        size = POINTER_BYTES if argument.pointer else SCALAR_BYTES
        ElementTree.SubElement(
            element,
            "arg",
            name=argument.name,
            addressQualifier="1" if argument.pointer else "0",
            id=str(index),
            port=f"M_AXI_GMEM_{argument.name.upper()}" if argument.pointer else "S_AXI_CONTROL",
            size=hex(size),
            offset=hex(offset),
            hostOffset="0x0",
            hostSize=hex(size),
            type="void*" if argument.pointer else "int",
        )
        offset += size + 4
