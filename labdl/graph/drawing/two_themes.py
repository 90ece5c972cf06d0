"""One picture for light and dark pages: a style sheet that replaces colors where the page is dark."""

from __future__ import annotations

from xml.etree import ElementTree

_COLORED = ("fill", "stroke")


def with_dark_colors(light: ElementTree.Element, dark: ElementTree.Element) -> ElementTree.Element:
    """The light picture, which takes the colors of the dark one of the same elements in a page of a dark theme.

    Programs without media queries, such as converters, show the light one. A class is named after its colors, so that several
    pictures in one page agree.
    """
    rules: dict[str, str] = {}
    for item, other in zip(light.iter(), dark.iter(), strict=True):
        names = []
        for attribute in _COLORED:
            first, second = item.get(attribute), other.get(attribute)
            if first is not None and second is not None and first != second:
                name = f"labdl-{attribute}{first}{second}".replace("#", "-")
                rules[name] = f".{name}{{{attribute}:{second}}}"
                names.append(name)
        if names:
            item.set("class", " ".join(names))
    style = ElementTree.Element("style")
    style.text = f"@media (prefers-color-scheme:dark){{{''.join(rules.values())}}}"
    light.insert(1, style)  # the first element is the title
    return light
