"""Hardware -> {path: content}: everything that a build folder holds."""
