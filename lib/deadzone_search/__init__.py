"""A search over several knobs: screened, searched and confirmed within one budget of trials."""

from deadzone.plugins import Pack

PACK = Pack(
    "search",
    search_cells="deadzone_search.studying:search_cells",
    next_cells="deadzone_search.studying:next_cells",
    searched="deadzone_search.studying:searched",
    search_blocks="deadzone_search.reporting:search_blocks",
    verbs={"search": "deadzone_search.searching:search"},
)
