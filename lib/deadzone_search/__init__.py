"""A search over several knobs: screened, searched and confirmed within one budget of trials."""

from deadzone.plugins import Pack

PACK = Pack("search", verbs={"search": "deadzone_search.searching:search"})
