"""QKeras and Keras models -> graph."""
