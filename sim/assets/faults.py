"""What goes wrong inside a file, before the path is known to the message."""


class ElementFault(ValueError):
    """An element that cannot be used; the reader's entry point adds the path and raises `ModelError`.

    Attributes:
        element: The element in words, such as "vertexbuffer of mesh 'body' (mesh 1)", or "".
        reason: What is wrong with it, without a full stop.
    """

    def __init__(self, element: str, reason: str) -> None:
        super().__init__(f"{element}: {reason}" if element else reason)
        self.element = element
        self.reason = reason


def quoted(name: str, limit: int = 60) -> str:
    """`name` in quotes for a message: on one line, unprintable characters escaped, shortened."""
    return repr(name if len(name) <= limit else name[: limit - 1] + "…")
