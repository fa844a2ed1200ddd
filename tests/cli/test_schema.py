from pathlib import Path

STUDIES = Path(__file__).resolve().parents[2] / "notebooks" / "studies"


def test_the_committed_schema_is_what_the_command_prints(deadzone):
    said = deadzone("schema")
    assert said.code == 0
    assert (STUDIES / "schema.json").read_text() == said.out, (
        "run: deadzone schema > notebooks/studies/schema.json"
    )
