"""`python -m evoca`: the command line; without arguments, MCP over stdio."""

from evoca.surfaces.cli import main

if __name__ == "__main__":
    main()
