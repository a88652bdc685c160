"""What every room stands on: errors, number types, files that appear whole."""
