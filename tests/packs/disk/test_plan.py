import pytest

from deadzone.errors import StudyError
from deadzone.study.design import resolve, treatments
from deadzone.study.spec import Study
from deadzone_disk.plan import budget_of, resolved_disk, warning_of

MIB = 2**20


def study(factors=None, attempts=1, design=None, **workload):
    own = {"kind": "disk", "folder": "area", "file_size": "16MiB", "max_written_bytes": "256MiB"}
    document = {
        "study": "disk",
        "workload": {**own, **workload},
        "factors": factors or {"block_size": ["4KiB", 65536]},
        "design": {"replicates": 2, "warmup": 0, **(design or {})},
        "trust": {"max_attempts": attempts},
    }
    return resolve(Study.model_validate(document), host_cores=2)


def budget(one):
    return budget_of(one, one.workload, treatments(one))


def test_block_sizes_in_words_become_numbers():
    listed = {"kind": "list", "treatments": [{"block_size": "1MiB"}, {"block_size": 512}]}
    for asked, sizes in ((study(), [4096, 65536]), (study({}, design=listed), [MIB, 512])):
        assert [one.levels["block_size"] for one in treatments(resolved_disk(asked))] == sizes
    with pytest.raises(StudyError, match=r"factors\.block_size\[0\] is '4k'"):
        resolved_disk(study({"block_size": ["4k", 512]}))


def test_the_bound_is_shared_by_every_attempt_at_a_trial_that_writes():
    found = budget(resolved_disk(study(attempts=3)))
    assert found.filled_bytes == 16 * MIB
    assert found.attempts == 2 * 2 * 3
    assert found.trial_bytes == (256 - 16) * MIB // 12
    assert found.most <= found.bound
    assert resolved_disk(study(attempts=3)).workload.trial_bytes == found.trial_bytes


def test_reads_write_nothing_but_the_file_they_read():
    found = budget(resolved_disk(study({"block_size": [4096, 8192], "operation": ["read"]})))
    assert (found.attempts, found.most) == (0, 16 * MIB)


def test_first_writes_need_no_file_filled_and_jobs_one_each():
    factors = {"operation": ["first_write"], "jobs": [1, 4]}
    assert budget(resolved_disk(study(factors, block_size=4096))).filled_bytes == 0
    factors = {"operation": ["overwrite"], "jobs": [1, 4, 2]}
    assert budget(resolved_disk(study(factors, block_size=4096))).filled_bytes == 4 * 16 * MIB


@pytest.mark.parametrize(
    ("keys", "said"),
    [({"trial_bytes": "100MiB"}, r"is 256 MiB, and this study may write 416 MiB: 4 attempts"),
     ({"file_size": "512MiB"}, "and 512 MiB to fill the files"),
     ({"max_written_bytes": 16 * MIB + 4096}, "less than one block of 64 KiB"),
     ({"factors": {"block_size": ["32MiB"]}}, "is 16 MiB, smaller than a block of 32 MiB"),
     ({"trial_bytes": 512}, r"workload.trial_bytes is 512 B, less than one block of 64 KiB"),
     ({"engine": "dd"}, r"workload\.engine is dd, .* builtin makes one call"),
     ({"factors": {"queue_depth": [0]}},
      "factors.queue_depth: '0' cannot be used: input should be greater than or equal to 1"),
     ({"factors": {"operation": ["write"]}},
      "factors.operation: 'write' cannot be used: input should be 'read', 'first_write'"),
     ({"factors": {"direct": ["maybe"]}}, "factors.direct: 'maybe' cannot be used"),
     ({"factors": {"jobs": [1.5]}}, "factors.jobs: '1.5' cannot be used")],
)  # fmt: skip
def test_more_than_the_bound_and_what_makes_no_sense_is_refused(keys, said):
    with pytest.raises(StudyError, match=said):
        resolved_disk(study(**keys))


def test_what_is_asked_for_within_the_bound_is_done():
    resolved = resolved_disk(study(trial_bytes="100MiB", max_written_bytes="1GiB"))
    assert resolved.workload.trial_bytes == 100 * MIB


def test_a_person_is_told_beforehand():
    most = "disk writes at most 256 MiB to area, 20 MiB a trial that writes (bound: 256 MiB), and "
    resolved = resolved_disk(study(attempts=3))
    assert warning_of(resolved, treatments(resolved)) == f"{most}removes it."
