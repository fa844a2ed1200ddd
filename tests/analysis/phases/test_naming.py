from dataclasses import replace

import pytest

import deadzone as dz
from deadzone.analysis.phases.naming import doubts, phase_name


@pytest.fixture(scope="module")
def model():
    """The published curve of 1 to 16 cores, of whose end the fit is not sure."""
    curve = dz.load_reference("ffmpeg-threads", "limit-equals-threads")
    return dz.fit_phases(curve, "cpu_limit", "wall_s")


def with_end(model, plateau, reversal):
    """The model with other probabilities of the labels of its last phase."""
    phases, steps = model.phases.copy(), model.steps.copy()
    phases.loc[phases.index[-1], "probability"] = plateau
    steps.loc[steps["start"] >= 12, ["p_plateau", "p_reversal"]] = [plateau, reversal]
    return replace(model, phases=phases, steps=steps)


def test_a_phase_of_which_two_labels_are_probable_is_named_by_both_with_their_probabilities(model):
    *others, last = model.phases.to_dict("records")
    assert phase_name(model, last) == "plateau or reversal"
    assert any("plateau (62 %) or reversal (35 %)" in str(doubt) for doubt in doubts(model))
    names = [phase_name(model, phase) for phase in others]
    assert names == ["linear", "dead zone", "linear", "breakthrough"]
    assert "plateau or " in str(model.summary()), "in the table of phases, too"


@pytest.mark.parametrize(
    ("plateau", "reversal", "sentence"),
    [(0.3, 0.68,
      "From 12 to 16 it is reversal (68 %) or plateau (30 %): worse and worse or nothing "
      "more to gain."),
     (0.75, 0.15, "The phase 12-16 is plateau with a probability of 75 % only."),
     (0.85, 0.15, None)],
)  # fmt: skip
def test_the_less_probable_label_never_stands_alone(model, plateau, reversal, sentence):
    said = [str(doubt) for doubt in doubts(with_end(model, plateau, reversal))]
    of_end = [doubt for doubt in said if "12-16 is" in doubt or "12 to 16" in doubt]
    assert of_end == ([sentence] if sentence else [])
