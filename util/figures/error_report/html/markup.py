"""HTML from Python calls: every text is escaped, and elements nest as they do in the page."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

_VOID = {"meta", "br", "img", "input"}


class Markup(str):
    """Text that is HTML already."""


Child = str | Iterable["Child"] | None


def element(name: str, /, *children: Child, **attributes: str | int | float | None) -> Markup:
    """Return an element. Children are elements, texts and lists of them; None is left out.

    A trailing underscore of an attribute's name is dropped, the others become hyphens: `class_`, `aria_label`. An
    attribute that is None is left out.
    """
    written = "".join(
        f' {attribute.rstrip("_").replace("_", "-")}="{escape(str(value))}"'
        for attribute, value in attributes.items()
        if value is not None
    )
    if name in _VOID:
        return Markup(f"<{name}{written}>")
    return Markup(f"<{name}{written}>{joined(*children)}</{name}>")


def joined(*children: Child) -> Markup:
    """Return children one after the other, texts escaped."""
    return Markup("".join(map(_markup, children)))


def _markup(child: Child) -> str:
    if child is None or isinstance(child, Markup):
        return child or ""
    return escape(child) if isinstance(child, str) else joined(*child)
