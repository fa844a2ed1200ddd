import pytest
from store.imports.samples import changed, imported, sample, written

from deadzone.errors import FormatError


def test_an_endpoint_is_a_row_and_the_total_is_left_out():
    table = imported("locust", sample("locust_stats.csv"))
    assert len(table) == 1
    row = table.iloc[0]
    assert (row["method"], row["endpoint"], row["requests"], row["errors"]) == ("GET", "/", 3500, 0)
    assert row["achieved_rate"] == 193.71324866297866
    assert (row["latency_p50_ms"], row["latency_p90_ms"], row["latency_p99_ms"]) == (4, 16, 1000)
    assert row["latency_max_ms"] == 1005.7368719999431
    for said in ("Aggregated", "rounded", "coordinated omission"):
        assert said in row["note"]


def test_the_total_alone_is_a_row(tmp_path):
    header, _, total = sample("locust_stats.csv").read_text().splitlines()
    path = written(tmp_path, f"{header}\n{total}\n", "total_stats.csv")
    assert imported("locust", path)["endpoint"].tolist() == ["Aggregated"]


def test_percentiles_of_the_json_are_counted_out():
    """1000 requests: 63 took 1 ms, 260 2, 190 3 (513 by then), so the median is 3."""
    row = imported("locust", sample("locust_json.json")).iloc[0]
    assert (row["latency_p50_ms"], row["latency_p99_ms"]) == (3, 16)
    assert row["latency_mean_ms"] == pytest.approx(4620.223274998352 / 1000)
    assert row["achieved_rate"] == pytest.approx(1000 / (1795238952.6895726 - 1795238948.1972039))


OLD = '"Method","Name","# requests","# failures","Median response time"\n"GET","/",10,0,5\n'


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("locust.json", "[]", "Redirect what"),  # what --json-file writes
        ("old_stats.csv", OLD, r"Locust 1\.0 or later, written with"),
    ],
)
def test_an_empty_list_and_an_older_locust_are_refused(tmp_path, name, text, said):
    with pytest.raises(FormatError, match=said):
        imported("locust", written(tmp_path, text, name))


@pytest.mark.parametrize("name", ["locust_stats_history.csv", "locust_failures.csv"])
def test_the_other_files_are_refused_with_the_right_one(name):
    with pytest.raises(FormatError, match=r"_stats\.csv"):
        imported("locust", sample(name))


def test_an_endpoint_without_requests_has_no_figures(tmp_path):
    nothing = {"num_requests": 0, "response_times": {}, "total_response_time": 0}
    path = changed(
        tmp_path, "locust_json.json", lambda d: d[0].update(nothing, min_response_time=None)
    )
    row = imported("locust", path).iloc[0]
    assert row["requests"] == 0 and "latency_p50_ms" not in row
