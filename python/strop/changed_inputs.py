"""NumPy functions that change their inputs, as `x *= 2` does: a baseline of them gets copies, as its caller would have to
make them, and their making is part of its time."""


def on_copies(function):
    import numpy as np

    def call(*arguments, **options):
        return function(*[one.copy() if isinstance(one, np.ndarray) else one for one in arguments], **options)

    return call


def is_refused(error: ValueError) -> bool:
    """Whether it says that a read-only array was written to."""
    return "read-only" in str(error)


def left_alone(function, arguments):
    """The function, or one on copies where it writes to these."""
    import numpy as np

    views = [one.view() if isinstance(one, np.ndarray) else one for one in arguments]
    for view in views:
        if isinstance(view, np.ndarray):
            view.setflags(write=False)
    try:
        function(*views)
    except ValueError as error:
        if is_refused(error):
            return on_copies(function)
        raise
    return function
