"""Training of Keras models: by QKeras."""
