import re

import pytest

from deadzone.errors import StudyError
from deadzone.study.design import resolve
from deadzone.study.loading import dump_study, parse_study


def study(factor, name="cpu_limit"):
    text = f"study: s\nworkload: {{kind: ffmpeg}}\nfactors:\n  {name}: {factor}\n"
    return parse_study(text, "s.yaml")


def of_command(argv, factors, name="words"):
    text = f"study: {name}\nworkload: {{kind: command, argv: [echo, {argv}]}}\nfactors: {factors}\n"
    return parse_study(text, "s.yaml")


def levels(factor, name="cpu_limit", cores=4):
    return resolve(study(factor, name), cores).factors[name].levels


@pytest.mark.parametrize(
    ("name", "factor", "expected"),
    [("cpu_limit", "[0.5, 1, none]", (0.5, 1, "none")),
     ("cpu_limit", "[0.5, 1, null]", (0.5, 1, "none")), ("cpu_limit", "[2, 2.0, 1]", (2, 1)),
     ("cpu_limit", "{levels: [1, 2], unit: cores}", (1, 2)),
     ("cpu_limit", "{from: 0.25, to: 1, step: 0.25}", (0.25, 0.5, 0.75, 1)),
     ("cpu_limit", "{from: 1, to: 3, step: 1, plus: [none]}", (1, 2, 3, "none")),
     ("anything", "{from: 0.1, to: 0.5, step: 0.1}", (0.1, 0.2, 0.3, 0.4, 0.5)),
     ("anything", "{from: 1, to: 6, step: 2}", (1, 3, 5)),
     ("anything", "{levels: [0.1, 1], times: 3}", (0.3, 3)),
     ("anything", "{levels: [1099511627777], times: 1.0}", (1_099_511_627_777,)),
     ("cpu_limit", "{levels: [0.5, 1, none], times: 3}", (1.5, 3, "none")),
     ("cpu_limit", "{levels: [0.125, 1, 2], times: host_cores}", (0.5, 4, 8)),
     ("cpu_limit", "{from: 0.5, to: 1, step: 0.5, times: host_cores}", (2, 4)),
     ("threads", "[0, 1, 2, auto, none]", (0, 1, 2, "auto", "none")),
     ("memory_limit", "[64MiB, 1 GB, none]", (64 * 2**20, 10**9, "none")),
     ("anything", "[1e6, 2E+6, .5e1]", (1_000_000, 2_000_000, 5)),
     ("anything", "['1e6']", ("1e6",)), ("colour", "[red, -1]", ("red", -1))],
)  # fmt: skip
def test_every_form_gives_its_levels(name, factor, expected):
    assert levels(factor, name) == expected


@pytest.mark.parametrize(
    ("factor", "words"),
    [("4", "a factor is a list of levels, {from, to, step}"),
     ("[]", "factors.cpu_limit is a list; it must not be empty"), ("{}", "levels is missing"),
     ("{from: 1, to: 4}", "step is missing"),
     ("{from: 1, to: 4, step: 0}", "step is 0; it must be greater than 0"),
     ("{from: 4, to: 1, step: 1}", "to is 1.0, below from"),
     ("{from: 1, to: .inf, step: 1}", "to is Infinity; it must be a finite number"),
     ("{from: .nan, to: 4, step: 1}", "from is NaN; it must be a finite number"),
     ("{from: 0, to: 1, step: 0.00001}", "levels; at most 10,000 make sense"),
     ("{levels: [1], times: 0}", "times is 0; it must be greater than 0"),
     ("{levels: [1], times: host_core}",
      "times is 'host_core'; allowed: host_cores. Did you mean `host_cores`?"),
     ("{levels: [1], units: cores}", "Unknown key `factors.cpu_limit.units`. Did you mean `unit`?"),
     ("{from: 1, to: 2, step: 1, levels: [1]}", "Unknown key `factors.cpu_limit.levels`"),
     ("{equals: cpu_limit, times: 2}", "Unknown key `factors.cpu_limit.times`"),
     ("{equals: nothing}", "`equals` names 'nothing', which is not a factor with levels"),
     ("{levels: [1, 2], scale: octaves}", "allowed: ratio, interval, words"),
     ("[.inf]", "Write none for no limit"),
     ("[1" + "0" * 400 + "]", "is larger than 1e+18"), ("[[1]]", "factors.cpu_limit")],
)  # fmt: skip
def test_what_is_no_factor_is_refused_with_line_and_reason(factor, words):
    with pytest.raises(StudyError) as refusal:
        resolve(study(factor), 4)
    assert words in str(refusal.value)
    assert re.match(r"s\.yaml:[34]: (Unknown key `)?factors", str(refusal.value))


CORES = "a CPU limit is a positive number of cores, or none"
THREADS = "a number of threads is whole, 0 or more, or auto"


@pytest.mark.parametrize(
    ("name", "level", "said"),
    [*(("cpu_limit", level, CORES) for level in ("0", "-1", "-0.5", "'0.5'", "lots", "auto")),
     *(("threads", level, THREADS) for level in ("-1", "1.5", "many"))],
)  # fmt: skip
def test_levels_of_known_factors_must_make_sense(name, level, said):
    with pytest.raises(StudyError, match=rf"factors\.{name}\[1\] is .*{said}"):
        levels(f"[1, {level}]", name)


def test_on_off_yes_no_true_and_false_are_words_as_written():
    resolved = resolve(of_command("'{flag}'", "{flag: [on, off, yes, no, true, false]}"), 4)
    assert resolved.factors["flag"].levels == ("on", "off", "yes", "no", "true", "false")
    assert resolve(parse_study(dump_study(resolved), "s.yaml"), 4) == resolved


def test_a_scale_that_the_levels_do_not_fit_is_refused_before_anything_is_measured():
    study = of_command("'{n}'", "{n: {levels: [-1, 1], scale: ratio}}")
    said = r"factors\.n is on the scale ratio, which has no negative levels"
    with pytest.raises(StudyError, match=said):
        resolve(study, 4)


def test_one_bad_level_gives_one_message():
    with pytest.raises(StudyError) as refusal:
        of_command("'{n}'", "{n: [.inf]}")
    assert str(refusal.value).count("s.yaml") == 1


def test_the_knob_is_the_first_factor_that_has_an_order():
    study = of_command("'{tool}', '{level}'", "{tool: [gzip, zstd], level: [1, 3]}")
    assert study.knob_name == "level"
