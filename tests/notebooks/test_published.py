import pytest
from pytest import approx

from notebooks.executed import Executed

VERDICTS = {
    "ffmpeg_threads": {"five phases": "supported", "linear from 1 to 10 cores": "contradicted",
                       "setting threads removes the dead zone": "in part",
                       "breakthrough by parallelism": "contradicted",
                       "at most 11 cores used": "supported", "7 threads at 4 cores": "in part",
                       "5 cores": "supported", "6 cores": "in part",
                       "outliers by filter threads": "not shown",
                       "10 to 11 threads from 11 cores on": "not shown"},
    "disk_io": {"over 10 s in 1 KiB blocks": "supported",
                "larger blocks are much faster": "supported", "18 chunks a second": "in part",
                "the smallest instance is enough": "not shown",
                "reading is not much faster": "not shown",
                "the reads took the file just written": "contradicted"},
    "media_server": {"CPU 31.7 % and memory 87.9 % less": "in part",
                     "four savings explain the CPU time": "not shown",
                     "NACK and mDNS freed 48.99 %": "contradicted",
                     "the times are flat": "not shown",
                     "the garbage collector is relieved": "not shown",
                     "31 % less CPU a stream": "not shown",
                     "the old build is near its limit": "not shown",
                     "no function was lost": "not shown", "the same conditions": "not shown"},
    "pod_cpu_limit": {"about 32 times slower": "supported", "the CPU limit is the cause": "in part",
                      "the disk is excluded": "not shown",
                      "memory pressure is excluded": "not shown",
                      "the network is excluded": "not shown",
                      "the client is not the bottleneck": "supported",
                      "slower than environments A and B": "not shown"},
    "thread_pools": {"32 inbound threads are best": "in part",
                     "64 inbound threads are slower": "in part",
                     "32 inbound threads keep the target": "not shown",
                     "16 outbound threads are best": "in part",
                     "32 outbound threads are slower": "in part",
                     "16 outbound threads keep the target": "in part",
                     "16 outbound threads are stable": "in part",
                     "threads hurt by CPU contention": "not shown",
                     "the mean stays within 40 ms": "not shown",
                     "connections are stable up to 200 a second": "supported",
                     "three game threads are enough": "in part",
                     "the slow first test is SecureRandom": "not shown"},
}  # fmt: skip

SENTENCES = {
    "ffmpeg_threads": ["3.8 times faster, with 1 dead zone", "from 52.2 s at 1 core to 154.9 s",
                       "1 dead zone still, from 4 to 6 cores",
                       "faster than automatic at 6, 7, 8 cores",
                       "at most 2.4 %, less than a repeat differs (4.3 %)", "5.08 s and as 3.72 s",
                       "The 3 values took 28.0 to 38.2 s",
                       "while all others at 4 and 8 cores took 78.8 to 159.7 s",
                       "differ by up to 4.3 %, the largest difference is 27 %"],
    "disk_io": ["is 213 times as fast. Reading",
                "602 µs a call and 365 MB/s; blocks of about 219 kB", "elasticity of 0.54",
                "In 1 KiB blocks reading is 117 times as fast; in large ones it is 325 against 361",
                "left 204.8 MB; the reads moved 409.6 MB"],
    "media_server": ["31.8 % and 87.9 % between these two profiles",
                     "add up to 49.36 s, 1.9 times the 26.04 s", "add up to 43.0 %",
                     "Without NACK lost packets are not sent again"],
    "pod_cpu_limit": ["32.47 times by curl's clock and 32.66 by the shell's",
                      "at least 1.6 times the CPU time", "108 MB/s, 87 % of what 1 Gbit/s can",
                      "148.63 of 148.84 s under the limit and 4.38 s or more without it",
                      "Times of the environments A, B, C are not in the document"],
    "thread_pools": ["22 ms at 171, 113 ms at 373", "would give 85 ms",
                     "the target of 100 ms is missed at 4,200",
                     "inbound: 4 of 18 cells stay within 100 ms, and none at more than 171",
                     "outbound: 11 of 19 cells stay within 100 ms, and none at more than 2,800",
                     "At 300 the server ran 156 threads; connections fail from 400 on",
                     "took 6,812 ms where a later one took 109 ms, 62 times as long"],
}  # fmt: skip

THREADS = "[['cpu_limit', 'values', 'phases', 'threads', 'not told apart']].fillna('open').values.tolist()"  # noqa: E501
BUDGETS = "rules.groupby(rule).agg({'budget': ['min', 'max'], 'set': 'last'}).values.tolist()"
GUIDELINE = ["rates [requests/s]", "threads", "keeps the target"]
HYPOTHESES = "attribution.hypotheses.set_index('hypothesis')['verdict'].to_dict()"
FIGURES = {
    "ffmpeg_threads": {
        "model.phases[['start', 'stop', 'label']].to_numpy().tolist()": [
            [1, 4, "linear"], [4, 6, "dead_zone"], [6, 10, "linear"], [10, 12, "breakthrough"],
            [12, 16, "plateau"]],
        "1 / jump['wall']": approx(13.70 / 3.46),
        "1 / jump['cpu']": approx((131.95 + 4.14) / (34.41 + 1.01)),
        "jump['wall'] - jump['cpu'] / jump['cores']": approx(0, abs=1e-6),
        f"counts{THREADS}": [
            [4, "all values", "linear 1-5, plateau 5-21", "open", "18 of 21"],
            [4, "no outliers", "linear 2-5, plateau 5-21", 6, "17 of 20"],
            [8, "all values", "reversal 1-20", "open", "1 of 20"],
            [8, "no outliers", "reversal 3-20", 3, "1 of 18"],
            [11, "all values", "linear 1-3, plateau 3-20", 4, "14 of 20"],
            [11, "no outliers", "linear 1-3, plateau 3-20", 4, "14 of 18"],
            [5, "all values", "plateau 5-30", 15, "4 of 6"],
            [6, "all values", "plateau 4-12", 4, "4 of 4"]],
        "gains.query('cpu_limit == 11').round(2).values.tolist()": [[11, 4, 3.62, -1.11]],
        "pairs.round(1).iloc[:, [0, 1, 4]].to_numpy().tolist()": [
            [4, 4, -1.6], [4, 5, 1.2], [4, 6, 2.9], [4, 7, 4.3], [4, 8, -2.0], [8, 8, 1.9],
            [11, 11, -26.8]],
        BUDGETS: [[1, 4, "all of it"], [5, 6, "4"], [7, 11, "all of it"], [12, 16, "12"]],
        "arithmetic['reading'].value_counts().to_dict()": {
            "agrees": 63, "a rounding away": 7, "means something else": 3, "wrong": 2},
        "others['recomputed'].round(2).tolist()": [9.63, -25.88, -24.5, -18.12, 5.67],
    },
    "disk_io": {
        "runs['chunk_s'].round(4).tolist()": [11.7339, 11.8098, 0.0554, 0.1008, 0.0615],
        "difference": approx(0.0064, abs=5e-4),
        "guideline['chunk_s'].round(3).astype(object).fillna('-').tolist()": [11.81, "-", 0.055],
        "[len(arithmetic), int(arithmetic['agrees'].sum())]": [26, 25],
        "wrong['figure'].tolist()": ["read-file-equals-written-file"],
    },
    "media_server": {
        "heap_saved.sum() + unlisted": approx(222.16),
        "rest[both].tolist()": approx([5.79, 30.39]),
        "listed": approx(50.64),
        "listed - parts['change_s']['not listed'] - saved": approx(0),
        "[*parts.loc['gc_scanobject', ['baseline', 'optimised']]]": [0.72, 1.05],
        "parts.loc['gc_scanobject', 'error_s']": approx(1.96 * 0.01 * (72 + 105) ** 0.5),
        "even": approx(64 * 45.52 / 31.07),
        "projected['cpu_percent'].astype(float).round(1).tolist()": [71.1, 48.5],
        "len(quality)": 0,
        "readings.to_dict()": {"agrees": 122, "a rounding away": 7, "wrong": 5},
        "arithmetic.query(\"reading == 'wrong'\")['recomputed'].round(2).tolist()": [
            -24.98, -18.01, 49.36, 42.99, 20.54],
    },
    "pod_cpu_limit": {
        "left": approx(4.718 / 4.584 - 1),
        "0.99 < restored < 1": True,
        "{'cpu_limit', 'memory_limit_bytes'} <= set(lifted)": True,
        HYPOTHESES: {"client": "excluded", "cpu_limit": "undecided", "network": "undecided",
                     "disk": "undecided", "memory": "undecided"},
        "guideline.iloc[:, 1].astype(object).fillna('-').tolist()": [148.835, "-", 4.718],
        "guideline.iloc[1, 2]": "not measured",
        "readings.to_dict()": {"agrees": 4, "a rounding away": 1},
    },
    "thread_pools": {
        "[chosen['inbound'], chosen['outbound']]": [32, 16],
        "turning['inbound'].to_dict()": {"373": 32, "513": 32},
        "turning['outbound'].to_dict()": {"2800": 16, "4200": 16},
        "[below['inbound'], above['inbound']]": [171, 373],
        "capacity['highest rate [requests/s]'].fillna(0).tolist()": [
            0, 0, 171, 171, 171, 171, 700, 700, 2800, 1400],
        "[end['label'], end['start']]": ["reversal", 200],
        f"guideline[{GUIDELINE}].astype(object).values.tolist()": [
            ["171", 8, True], ["373", 32, False], ["513", 32, False], ["290, 700, 1,400", 16, True],
            ["2,800", 16, True], ["4,200", 16, False]],
        "by_rate[['fastest', 'not told apart', 'probability']].round(3).values.tolist()": [
            [8, "8, 16, 32", 0.999], [32, "32", 0.0], [32, "32", 0.0], [32, "16, 32", 0.997],
            [16, "16, 32", 0.984], [32, "32", 0.994], [16, "16", 0.676], [16, "16", 0.0]],
        "[len(arithmetic), int(arithmetic['agrees'].sum())]": [14, 12],
        "other.to_numpy().tolist()": [[325, 373, False], [1600, 1400, False]],
    },
}  # fmt: skip
"""Expressions in the notebook, and what they give."""

OTHERWISE = {
    "ffmpeg_threads": [('work[work["label"] == "breakthrough"]',
                        "work = work.assign(wall=work['wall'], cpu=1.0, cores=1 / work['wall'])",
                        "**Supported.**")],
    "disk_io": [("np.linalg.solve",
                 "small, large = 1000, 1_000_000; slow, fast = 0.001 / 0.0011, 1 / 0.1010",
                 "1000 µs a call and 10 MB/s; blocks of about 10 kB")],
    "media_server": [('"four savings explain', "saved = 100.0", "**In part.**")],
    "pod_cpu_limit": [('"the CPU limit is the cause"', "resources = resources[['cpu_limit']]",
                       "**Supported.**"),
                      ("cores = host_cores or", "host_cores = 64",
                       "One core in place of 64 can explain")],
}  # fmt: skip
"""A text of the cell that is executed again, what is changed before, and what it says then."""


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.night if name == "thread_pools" else ())
        for name in VERDICTS
    ],
)
def test_conclusions_have_their_verdicts_sentences_and_figures(name):
    with Executed(f"published/{name}") as notebook:
        assert notebook.value("verdicts") == VERDICTS[name]
        for sentence in SENTENCES[name]:
            assert sentence in notebook.sentences
        for expression, figure in FIGURES[name].items():
            assert notebook.value(expression) == figure, expression
        for cell, change, said in OTHERWISE.get(name, ()):
            assert said in notebook.again(cell, change)
