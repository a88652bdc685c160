"""A built design at work from Python: on a card through pyxrt, or its compiled C-simulation on this machine.

from hlsgen import runtime
with runtime.open("build/net", xclbin="net.xclbin") as net:    # without xclbin: C-simulation
    y = net.run(x)
    print(net.figures)
"""

from hlsgen.runtime.figures import Figures
from hlsgen.runtime.opening import Runtime, open

__all__ = ["Figures", "Runtime", "open"]
