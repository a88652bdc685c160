"""python -m hlsgen: the command line."""

from hlsgen.cli import main

if __name__ == "__main__":
    main()
