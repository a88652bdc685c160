"""A convolution as a kernel that is called."""
