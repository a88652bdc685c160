"""The design that the tests of the command line and of the output folder build: quick to compile."""

DESIGN = """
name: small
board: zcu102
batch: 4
input: {shape: [2, 8, 8], type: "fixed<16,6>", samples: random}
layers:
  - {name: conv1, kind: conv2d, out_channels: 2, kernel: 3, weights: {seed: 3}}
mapping: {instances: 1, conv1: {rows: 1, pe: 1, simd: 1, fabric_pe: 0}}
"""
