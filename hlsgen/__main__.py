"""python -m hlsgen: the command line."""

from hlsgen.cli.main import main

if __name__ == "__main__":
    main()
