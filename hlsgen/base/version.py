"""The version of hlsgen, which every emitted file states."""

VERSION = "0.1.0"
