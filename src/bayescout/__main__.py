"""`python -m bayescout` runs the command `bayescout`."""

from bayescout.cli import main

if __name__ == "__main__":
    main()
