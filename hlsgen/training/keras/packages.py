"""TensorFlow, Keras 2 and QKeras, for the modules that train: the one place of this folder that imports them.

Importing this raises ToolError where one is missing, or TensorFlow was imported with Keras 3 before.
"""

from __future__ import annotations

from typing import Any

from hlsgen.frontends.qkeras.load import quiet as quiet
from hlsgen.frontends.qkeras.load import tensorflow_packages

_packages = tensorflow_packages()
tf: Any = _packages.tensorflow
keras: Any = _packages.keras
qkeras: Any = _packages.qkeras
quantizers: Any = _packages.quantizers
