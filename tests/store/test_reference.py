import csv
import json
import math
import re
import statistics
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from deadzone import fit_phases
from deadzone.errors import TableError
from deadzone.measurement import Sample
from deadzone.store.reference import DATA_VARIABLE, load_reference, reference_folder
from deadzone.store.table import long_pieces, tidy_pieces, whole

REPOSITORY = Path(__file__).resolve().parents[2]
REFERENCE = REPOSITORY / "data" / "reference"
CODEBOOK = REPOSITORY / "data" / "README.md"
PUBLISHED = REFERENCE / "README.md"
STUDIES = [
    "disk-io", "ffmpeg-16-cores", "ffmpeg-threads", "history", "media-server",
    "pod-cpu-limit",     "published-curves", "thread-pools",
]  # fmt: skip
CELL = {
    "integer": re.compile(r"-?\d+"), "number": re.compile(r"-?\d+(\.\d+)?"),
    "boolean": re.compile(r"true|false"), "string": re.compile(r"\S(.*\S)?", re.DOTALL),
}  # fmt: skip


def packages() -> list[dict[str, Any]]:
    return [
        json.loads((REFERENCE / study / "datapackage.json").read_text(encoding="utf-8"))
        for study in STUDIES
    ]


TABLES = [(package["name"], table) for package in packages() for table in package["resources"]]
TABLE_NAMES = [f"{study}/{resource['name']}" for study, resource in TABLES]


def codebook_rows(heading: str, codebook: Path = CODEBOOK) -> dict[str, list[str]]:
    section = codebook.read_text(encoding="utf-8").split(heading, 1)[1].split("\n#", 1)[0]
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in section.splitlines()
        if line.startswith("| `")
    ]
    return {row[0].strip("`"): row[1:] for row in rows}


def told_rows() -> dict[tuple[str, str], int]:
    """By study and table: how many rows the codebook says that it has."""
    section = PUBLISHED.read_text(encoding="utf-8").split("## Tables", 1)[1].split("\n## ", 1)[0]
    listed = re.findall(r"^\| `([\w-]+)` \| `([\w-]+)` \| ([^|]+) \|", section, re.MULTILINE)
    return {(study, table): int(count) for study, table, count in listed}


TOLD_ROWS = told_rows()


def test_every_study_is_a_data_package_that_declares_its_tables():
    assert sorted(path.parent.name for path in REFERENCE.glob("*/datapackage.json")) == STUDIES
    for study, package in zip(STUDIES, packages(), strict=True):
        assert package["name"] == study
        assert package["title"] and package["notes"]
        assert package["licenses"][0]["title"].startswith("Figures only")
        assert all(source["title"] for source in package["sources"])
        declared = sorted(resource["path"] for resource in package["resources"])
        assert declared == sorted(path.name for path in (REFERENCE / study).glob("*.csv"))


@pytest.mark.parametrize(("study", "resource"), TABLES, ids=TABLE_NAMES)
def test_a_table_obeys_its_schema_and_loads_with_its_types(study: str, resource: dict[str, Any]):
    raw = (REFERENCE / study / resource["path"]).read_bytes()
    assert b"\r" not in raw
    assert raw.endswith(b"\n")
    header, *rows = csv.reader(raw.decode("utf-8").splitlines())
    fields = resource["schema"]["fields"]
    assert header == [field["name"] for field in fields]
    frame = load_reference(study, resource["name"])
    assert len(frame) == len(rows) == TOLD_ROWS[study, resource["name"]]
    kinds = {"integer": "i", "number": "f", "boolean": "b"}
    for field, *cells in zip(fields, *rows, strict=True):
        if field["type"] in kinds and "missingValues" not in field:
            assert frame[field["name"]].dtype.kind == kinds[field["type"]], field["name"]
        assert frame.attrs["units"][field["name"]] == field["unit"]
        assert field["unit"], field["name"]
        assert field["description"].endswith("."), field["name"]
        if field["type"] == "number":
            assert field["unit"] != "none", field["name"]
        required = field.get("constraints", {}).get("required", False)
        for cell in cells:
            is_missing = cell in field.get("missingValues", [""]) and not required
            assert CELL[field["type"]].fullmatch(cell) or is_missing, (field["name"], cell)


def test_a_column_means_the_same_in_every_table_and_in_the_codebook():
    used: dict[str, tuple[tuple[str, ...], set[str]]] = {}
    for study, resource in TABLES:
        for field in resource["schema"]["fields"]:
            says = (field["unit"], field["type"], field["description"])
            meant, studies = used.setdefault(field["name"], (says, set()))
            assert says == meant, (study, resource["name"], field["name"])
            studies.add(study)
    rows = codebook_rows("## Columns of the published tables", PUBLISHED).items()
    listed = {name: (unit, kind, set(of.split(", "))) for name, (unit, kind, _, of) in rows}
    assert listed == {name: (*says[:2], studies) for name, (says, studies) in used.items()}


def test_the_codebook_lists_every_table():
    assert {*TOLD_ROWS} == {(study, resource["name"]) for study, resource in TABLES}


def test_the_codebook_describes_the_tidy_table_of_a_run():
    series = whole(long_pieces([], "run", "samples", Sample))
    tidy = whole(tidy_pieces(list, "run", []))
    for heading, table in (("tidy table", tidy), ("time series", series)):
        assert set(codebook_rows(f"## The {heading} of a run")) == set(table.columns)


def test_the_published_curve_is_the_one_of_the_document():
    curve = load_reference("ffmpeg-threads", "limit-equals-threads")
    assert list(curve["cpu_limit"]) == list(range(1, 17))
    assert curve.set_index("threads").loc[11, "wall_s"] == 5.08


@pytest.mark.parametrize(("setting", "first"), [("equal_to_limit", 8), ("auto", 9)])
def test_on_sixteen_cores_of_another_machine_ffmpeg_gains_up_to_half_of_them_and_has_no_dead_zone(
    setting, first
):
    trials = load_reference("ffmpeg-16-cores", "trials").query("thread_setting == @setting")
    phases = fit_phases(trials, "cpu_limit", "wall_s").phases
    assert list(phases["label"]) == ["linear", "plateau"]
    assert list(phases["start"]) == [1, first]


@pytest.mark.parametrize(("cores", "marked"), [(4, [1]), (8, [1, 2]), (11, [14, 18])])
def test_the_authors_outliers_are_marked(cores, marked):
    table = load_reference("ffmpeg-threads", f"threads-at-{cores}-cores")
    assert list(table.query("flagged_by_author")["threads"]) == marked


def test_a_dash_in_the_document_stays_missing():
    outbound = load_reference("thread-pools", "outbound")
    missing = outbound[outbound["latency_max_ms"].isna()]
    assert missing[["rate", "pool_size"]].to_numpy().tolist() == [[4200, 4]]


def test_a_table_that_the_document_never_gave_is_described_and_not_invented():
    package = next(package for package in packages() if package["name"] == "pod-cpu-limit")
    assert package["missing"][0]["title"].startswith("Experiment 1")
    assert 1 not in set(load_reference("pod-cpu-limit", "request-time")["experiment"])


PHASES = ("phase-efficient", "phase-dead-zone", "phase-recovery", "phase-breakthrough")


@pytest.mark.parametrize("table", [*PHASES, "auto-versus-explicit"])
def test_quoted_times_are_those_of_the_curve(table):
    wall = load_reference("ffmpeg-threads", "limit-equals-threads").set_index("cpu_limit")["wall_s"]
    frame = load_reference("ffmpeg-threads", table)
    if "thread_setting" in frame:
        frame = frame[frame["thread_setting"] == "equal_to_limit"]
    assert (frame["wall_s"] == frame["cpu_limit"].map(wall)).all()


@pytest.mark.parametrize(
    ("study", "table", "hint"),
    [("ffmpeg-thread", "claims", "`ffmpeg-threads`"), ("disk-io", "ddd", "`dd`"),
     ("disk-io", "..", "There are: `environment`")],
)  # fmt: skip
def test_a_wrong_name_is_answered_with_the_nearest(study: str, table: str, hint: str):
    with pytest.raises(TableError, match=re.escape(hint)):
        load_reference(study, table)


def test_the_variable_names_another_data_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "reference").mkdir()
    monkeypatch.setenv(DATA_VARIABLE, str(tmp_path))
    assert reference_folder() == tmp_path / "reference"
    monkeypatch.setenv(DATA_VARIABLE, str(tmp_path / "nowhere"))
    with pytest.raises(TableError, match="name the data folder"):
        reference_folder()


def test_the_tables_are_found_from_any_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv(DATA_VARIABLE, raising=False)
    monkeypatch.chdir(tmp_path)
    assert reference_folder() == REFERENCE


@pytest.fixture
def own_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A small data folder with one table of one study."""
    folder = tmp_path / "reference" / "own"
    folder.mkdir(parents=True)
    fields = [
        {"name": "threads", "type": "integer", "unit": "count", "constraints": {"required": True}},
        {"name": "direct", "type": "boolean", "unit": "none"},
    ]
    resource = {"name": "one", "path": "one.csv", "title": "One", "schema": {"fields": fields}}
    package = {"name": "own", "sources": [{"title": "here"}], "resources": [resource]}
    (folder / "datapackage.json").write_text(json.dumps(package), encoding="utf-8")
    monkeypatch.setenv(DATA_VARIABLE, str(tmp_path))
    return folder / "one.csv"


def test_a_missing_truth_value_stays_missing(own_table: Path):
    own_table.write_text("threads,direct\n1,true\n2,\n", encoding="utf-8")
    direct = load_reference("own", "one")["direct"]
    assert direct[0] and pd.isna(direct[1])


@pytest.mark.parametrize(
    ("text", "message"),
    [("threads,direct\n1.5,true\n", "cannot safely cast"),
     ("threads,direct\n,true\n", "cannot convert NA to integer"),
     ("threads,direct\n1,yes\n", "Expecting value"), ("threads\n1\n", "not found: ['direct']")],
)  # fmt: skip
def test_a_table_that_breaks_its_schema_is_refused(own_table: Path, text: str, message: str):
    own_table.write_text(text, encoding="utf-8")
    with pytest.raises(TableError, match="datapackage") as refused:
        load_reference("own", "one")
    assert message in str(refused.value)


def test_a_table_that_is_gone_is_reported(own_table: Path):
    with pytest.raises(TableError, match="cannot be read"):
        load_reference("own", "one")


def published_curves() -> list[dict[str, str]]:
    with (REFERENCE / "published-curves" / "index.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def curve_of(case: dict[str, str]) -> dict[str, list[float]]:
    """Trials of a published curve at each level, as typed."""
    path = REFERENCE / "published-curves" / "cases" / f"{case['name']}.csv"
    header, *rows = csv.reader(path.read_text(encoding="utf-8").splitlines())
    assert header == [case["knob"], case["response"]], case["name"]
    trials: dict[str, list[float]] = {}
    for level, value in rows:
        trials.setdefault(level, []).extend([float(value)] if value else [])
    return {level: trials[level] for level in sorted(trials, key=float) if trials[level]}


def listed(cell: str) -> list[str]:
    return cell.split(";") if cell else []


def judged(
    curve: dict[str, list[float]], case: dict[str, str]
) -> tuple[list[str], list[str], float]:
    """Acceptable and clearly worse levels, and the scatter, by the rules in the README.md there."""
    median = {level: statistics.median(values) for level, values in curve.items()}
    best = (min if case["goal"] == "min" else max)(median.values())
    at = next(level for level, value in median.items() if value == best)
    loss = {
        level: value / best - 1 if case["goal"] == "min" else 1 - value / best
        for level, value in median.items()
    }
    if any(len(values) > 1 for values in curve.values()):
        spread = [
            math.log(v) - statistics.mean(map(math.log, vs)) for vs in curve.values() for v in vs
        ]
        scatter = math.sqrt(sum(d * d for d in spread) / (len(spread) - len(curve)))
        lower = {m: 2 * scatter * math.sqrt(1 / len(curve[m]) + 1 / len(curve[at])) for m in curve}
        upper = lower
    else:
        sound = [math.log(median[m]) for m in curve if m not in listed(case["level_off"])]
        bends = [abs(a - 2 * b + c) for a, b, c in zip(sound, sound[1:], sound[2:], strict=False)]
        scatter = statistics.median(bends)
        capped = "erratic" not in case["notes"]
        lower = dict.fromkeys(curve, min(scatter, math.log(1.10)) if capped else scatter)
        upper = dict.fromkeys(curve, min(scatter, 0.25) if capped else scatter)
    apart = {m: abs(math.log(median[m] / best)) for m in curve}
    good = [m for m in curve if loss[m] <= 0.03 or apart[m] <= lower[m] + 1e-12]
    worse = [m for m in curve if m not in good and loss[m] > 0.10 and apart[m] > upper[m]]
    return good, worse, scatter


def test_every_published_curve_is_in_the_index():
    cases = sorted(path.stem for path in (REFERENCE / "published-curves" / "cases").glob("*.csv"))
    assert cases == sorted(case["name"] for case in published_curves())


def test_a_published_curve_is_judged_by_the_written_rules():
    for case in published_curves():
        name, curve = case["name"], curve_of(case)
        good, worse, scatter = judged(curve, case)
        if case["is_work_size"] == "yes":
            good, worse = [], []
        assert (listed(case["judged_setting"]), listed(case["judged_wrong"])) == (good, worse), name
        assert re.search(r"\b[rs]=([\d.]+)", case["notes"]).group(1) == f"{scatter:.3f}", name
        assert case["source_url"].startswith("https://"), name
        assert int(case["replicates"]) == max(map(len, curve.values())), name
        stretches = [stretch.split(":")[0] for stretch in listed(case["judged_labels"])]
        ends = {end for stretch in stretches for end in stretch.split("-")}
        assert ends | set(listed(case["level_off"])) <= set(curve), name


@pytest.mark.night
def test_a_report_of_a_run_of_reference_leaves_it_as_it_was(deadzone, home):
    notebook = Path("notebooks", "attribution.ipynb")
    (home / notebook).symlink_to(REPOSITORY / notebook)

    def contents():
        paths = (REFERENCE / "runs").rglob("*")
        return {path: path.read_bytes() for path in paths if path.is_file()}

    before = contents()
    deadzone("report", "upload-cpu-limit/reference", code=0)
    assert before == contents()
