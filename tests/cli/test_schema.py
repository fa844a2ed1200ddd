from pathlib import Path

STUDIES = Path(__file__).resolve().parents[2] / "notebooks" / "studies"


def test_the_committed_schema_is_what_the_command_prints(deadzone):
    kept, said = (STUDIES / "schema.json").read_text(), deadzone("schema", code=0).out
    assert kept == said, "run: deadzone schema > notebooks/studies/schema.json"
