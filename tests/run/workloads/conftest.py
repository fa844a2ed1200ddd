import pytest


@pytest.fixture(scope="session")
def cache(tmp_path_factory):
    """Of generated clips: drawing one takes a second."""
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(autouse=True)
def _own_cache(cache, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache))
