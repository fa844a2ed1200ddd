"""The tags of a page, as a parser of the standard library meets them."""

from html.parser import HTMLParser

WITHOUT_END = {"wbr", "img", "br", "path", "meta", "link"}


class Tags(HTMLParser):
    """Every tag with its attributes; all that need an end must have one."""

    def __init__(self, text):
        super().__init__()
        self.seen, self._open = [], []
        self.feed(text)
        assert not self._open

    def handle_starttag(self, tag, attrs):
        self.seen.append((tag, dict(attrs)))
        if tag not in WITHOUT_END:
            self._open.append(tag)

    def handle_endtag(self, tag):
        if tag not in WITHOUT_END:
            assert self._open.pop() == tag

    def each(self, attribute, tags=None):
        """The values of an attribute, of all tags or of those of some names."""
        named = [one for tag, one in self.seen if tags is None or tag in tags]
        return [one[attribute] for one in named if attribute in one]
