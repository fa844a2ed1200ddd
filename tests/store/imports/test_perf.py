import pytest

from store.imports.samples import imported, sample, written

TEXT = """
 Performance counter stats for 'true':

              0.31 msec task-clock                #    0.512 CPUs utilized
             1,044      page-faults               #    0.142 M/sec
     <not counted>      cycles

       0.000605462 seconds time elapsed

"""


def read(tmp_path, text):
    return imported("perf-stat", written(tmp_path, text))


@pytest.mark.parametrize(
    "text",
    [TEXT,
     TEXT.replace("0.31", "0,31").replace("1,044", "1\u202f044"),
     TEXT.replace("0.31", "0,31").replace("1,044", "1.044"),
     "0.31,msec,task-clock,306721,100.00,0.512,CPUs\n1044,,page-faults,306721,,,\n",
     "0,31/msec/task-clock/306721/100,00/0/CPUs utilized\n1044//page-faults:u/306721///\n",
     "0,310000;msec;task-clock;306721;100,00;;\n1044;;page-faults;306721;100,00;;\n"],
)  # fmt: skip
def test_each_form_tells_the_same(tmp_path, text):
    row = read(tmp_path, text).iloc[0]
    assert (row["task_clock_s"], row["page_faults"]) == (0.00031, 1044)
    assert "cycles" not in row


def test_the_text_tells_command_and_time_and_each_run_is_a_row(tmp_path):
    table = read(tmp_path, TEXT + TEXT.replace("'true'", "'false'"))
    assert table["command"].tolist() == ["true", "false"]
    assert table["wall_s"].tolist() == [0.000605462] * 2


def test_further_events_have_a_column(tmp_path):
    text = sample("perf_stat.ndjson").read_text().replace("cpu-migrations", "dTLB-load-misses")
    assert read(tmp_path, text)["dtlb_load_misses"][0] == 8
