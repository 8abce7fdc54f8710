"""python -m autodiff."""

from autodiff.cli import main

if __name__ == "__main__":
    main()
