import pytest

ECHO = """\
| Connections | RPS | Timeouts | Timeout Rate | p50 Latency |
|-------------|-----|----------|--------------|-------------|
| 500 | 539 | 462 | 1.4% | 871ms |
| **600** | **555** | 1,106 | **3.3%** | **991ms** |
| 750 | 569 | 4,051 | 11.8% | 1.17s |
| 1000 | 520 | 13,905 | 44% | 1.39s |
"""

BATCHED = """\
|   PP |  TG |  B |  T_TG s |  S t/s |
|------|-----|----|---------|--------|
|  128 | 128 |  1 |   1.935 | 124.42 |
|  128 | 128 |  2 |   2.650 | 179.64 |
|  128 | 128 |  4 |   4.122 | 225.62 |
|  128 | 128 |  8 |   7.901 | 234.16 |
|  128 | 128 | 16 |   8.977 | 381.61 |
|  128 | 128 | 32 |   9.233 | 629.59 |
"""

LOADER = """\
| batch_size | time / epoch | ours 3.13t   | items / s   |
| ---------- | ------------ | ------------ | ----------- |
| 1          | 107 µs       | **7 473 k**  | 38 M/s      |
| 32         | 14.6 µs      | **23 776 k** | 281 M/s     |
| 512        | 6.2 µs       | **28 098 k** | 661 M/s     |
| 4 096      | 4.1 µs       | **31 369 k** | **1.0 G/s** |
"""

CLIENTS = """\
| Connections | RPS</br>Single | Mean ms</br>Single |
|-------------|---------------:|-------------------:|
| 1           |     ***9545*** |                0,1 |
| 50          |    ***60532*** |               0,82 |
| 200         |          60560 |               3,29 |
| 1000        |    ***41475*** |              24,06 |
"""

SCALING = """\
| Threads    | Time/ms | scalability(based on num_thread=1)|
| -------- | ------- | --------------|
| 1 | 35338  | - |
| 8 | 4657.5 | 94.84%|
| 32 | 1138.6  | 96.99%
| 64 | 697.85 | 79.12%|
"""

MEMORY = """\
| Memory | Duration | Cost |
|---|---|---|
| 128 MB | 11.722 s | $0.044628 |
| 256 MB | 6.678 s | $0.028035 |
| 512 MB | 3.194 s | $0.026830 |
| 1024 MB | 1.465 s | $0.014638 |
"""

JMH = """\
Benchmark                      (threads)  Mode  Samples         Score   Score error  Units
c.Latency.timeLatency                N/A  avgt       10     42329.610       359.256  ns/op
c.Throughput.timeThroughput            1  avgt       10      5933.870        47.012  ns/op
c.Throughput.timeThroughput            2  avgt       10      3968.874        94.048  ns/op
c.Throughput.timeThroughput            4  avgt       10      1795.688        61.565  ns/op
"""


@pytest.mark.parametrize(
    ("name", "text", "knob", "response", "words"),
    [("t.md", ECHO, "Connections", "RPS", "Timeout Rate is up to 44 % at Connections 750, 1000"),
     ("t.md", BATCHED, "B", "S t/s", "More S t/s is better, by its name."),
     ("t.md", BATCHED, "B", "S t/s", "Set B 32: 6"),
     ("t.md", LOADER, "batch_size", "items / s", "Set batch size 4 096: 1,0"),
     ("t.md", LOADER, "batch_size", "time / epoch", "Set batch size 4 096: 4."),
     ("t.md", CLIENTS, "Connections", "RPS</br>Single", "More RPS</br>Single is better"),
     ("t.md", CLIENTS, "Connections", "Mean ms</br>Single", "As Connections grows, more is"),
     ("t.md", SCALING, "Threads", "Time/ms", "Set Threads 64: 6"),
     ("t.md", MEMORY, "Memory", "Cost", "Set Memory 1024 MB: 0.014"),
     ("t.txt", JMH, "(threads)", "Score", "Set (threads) 4")],
)  # fmt: skip
def test_a_published_table_is_answered_as_it_stands(name, text, knob, response, words, fit_of):
    said = fit_of(text, knob, response, "-q", name=name, code=0)
    assert words in said.out and "stands apart" not in said.out


def test_a_lone_slice_says_its_setting(fit_of):
    said = fit_of(JMH, "(threads)", "Score", "--by", "Benchmark", "-q", name="t.txt", code=0).out
    assert "By slice: Benchmark c.Throughput.timeThroughput / (threads) 4 (" in said


def test_slices_of_which_none_has_a_setting_are_not_listed(fit_of):
    """Partitions of a job whose samples grow with them, in three modes."""
    rates = {"gpu": (440, 1229, 2086), "cpu": (541, 1230, 1423), "both": (556, 1250, 2195)}
    rows = [
        (mode, n, f"{own} /sec")
        for mode, all_ in rates.items()
        for n, own in zip((2, 2, 4), all_, strict=True)
    ]
    columns = ("mode", "partitions", "throughput")
    said = fit_of(rows, "partitions", "throughput", "--by", "mode", "-q", columns=columns).out
    assert "No setting yet" in said and "More throughput is better" in said
    assert "By slice" not in said


@pytest.mark.parametrize(
    ("text", "arguments", "words"),
    [("threads,#threads,wall_s\n1,1,9\n2,2,5\n4,4,3\n", (), "Set 4 threads"),
     ("# `threads`,**wall_s**\n1,9\n2,5\n4,3\n", (), "Set 4 threads"),
     ("threads,#1,#2\n1,9,9\n2,5,5\n4,3,3.1\n", ("--wide", "#?"), "Set 4 threads")],
)  # fmt: skip
def test_a_hash_is_taken_off_the_first_name_alone(text, arguments, words, fit_of):
    assert words in fit_of(text, "threads", "wall_s", "-q", *arguments, code=0).out


def test_columns_that_are_repeats_and_lists_below_odd_names_are_told_as_typed(fit_of):
    repeats = "threads,rep=1,rep=2\n1,9,9\n2,5,5\n4,3,3.1\n"
    assert "`--wide 'rep=*'`" in fit_of(repeats, "threads", "w", code=2).err
    below = '{"a-b": {"my runs": [{"threads": 1, "w": 2}]}}'
    said = fit_of(below, "threads", "w", name="t.json", code=2).err
    assert """`jq '.["a-b"]["my runs"]' """ in said


def test_levels_with_a_name_before_them_as_columns_are_told_with_what_to_type(fit_of):
    table = "| query | t=8 | t=16 | t=64 |\n|---|---|---|---|\n| join | 11 | 6.61 | 4.7 |\n"
    said = fit_of(table, "t", "wall_s", name="t.md", code=2)
    assert "`--wide 't=8,t=16,t=64' --name KNOB --knob KNOB --response NAME`" in said.err
    typed = ("--wide", "t=8,t=16,t=64", "--name", "t", "-q")
    assert "Set t t=64" in fit_of(table, "t", "wall_s", *typed, name="t.md", code=0).out


RULED = "| threads | rps |\n|---|---|\n| 1 | 100 |\n| 2 | 190 |\n"
BELOW = "| 4 | 350 |\n| 8 | 360 |\n| 16 | 360 |\n"
ROLLED = """\
 threads | rps
---------+-----
       1 | 100
       2 | 200
       4 | 350
         | 650
"""
UNLIMITED = "threads,wall\n,s\n1,10\n1,10.1\n2,5\n4,3\n4,3.1\ninf,2\ninf,2.05\n"
ROUNDED = "threads,result\n-,req/s\n1,~90\n2,150\n4,240\n8,250\n"


@pytest.mark.parametrize(
    ("name", "text", "knob", "response", "said"),
    [
        ("rows below a blank line", f"{RULED}\n{BELOW}", "threads", "rps", "Set 8 threads"),
        ("a total without a level", ROLLED, "threads", "rps", "Set 4 threads: 35"),
        ("no limit below a line of units", UNLIMITED, "threads", "wall", "Set no limit: 2.0"),
        ("a rounded cell below a line of units", ROUNDED, "threads", "result", "Set 8 threads: 2"),
        ("a unit beside a name with one", "threads,unit,wall_ms\n1,s,10\n2,s,5\n4,s,3\n",
         "threads", "wall_ms", " ms"),
        ("a unit of another column", "threads,rate,latency,unit\n1,9,10,req/s\n2,8,5,req/s\n"
         "4,7,3,req/s\n", "threads", "latency", "Set 4 threads: 3"),
        ("a unit that is a name", "threads,value,unit\n1,10,rack/a\n2,5,rack/a\n4,3,rack/a\n",
         "threads", "value", "assumed to be better"),
    ],
    ids=lambda value: value.replace(" ", "-") if len(value) < 40 else "",
)  # fmt: skip
def test_no_row_and_no_unit_is_lost_or_taken_from_elsewhere(
    name, text, knob, response, said, fit_of
):
    told = fit_of(text, knob, response, "-q", name="t.md" if "|" in text else "t.csv")
    whole = told.out + told.err
    assert said in whole, name
    for other in ("rack/a;", "req/s"):
        assert (other in told.out) == ("rounded" in name and other == "req/s"), whole


def test_a_near_name_comes_before_columns_that_are_levels(fit_of):
    text = "threads,p=50,p=90,p=99,wall\n1,1,2,3,9\n2,1,2,3,5\n4,1,2,3,4\n"
    assert "Did you mean `wall`" in fit_of(text, "threads", "wal").err
