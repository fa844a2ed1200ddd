import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deadzone.analysis.response_scale import response_scale


@given(st.lists(st.floats(-1e6, 1e6), min_size=2))
def test_there_and_back_is_where_one_was(values):
    response = np.array(values)
    scale = response_scale(response)
    assert np.allclose(scale.backward(scale.forward(response)), response)


def test_the_values_say_their_scale():
    assert response_scale(np.array([1.0, 2.5])).kind == "ratio"
    assert response_scale(np.array([0.0, 3.0])).kind == "count"
    assert response_scale(np.array([0.0, 3.5])).kind == "interval"
    assert response_scale(np.array([-1.0, 3.0])).kind == "interval"
    with pytest.raises(ValueError, match="whole"):
        response_scale(np.array([0.5, 2.0]), "count")


def test_amounts_are_shares_or_in_the_unit():
    assert response_scale(np.array([1.0])).amount_text(0.12) == "12 %"
    errors = response_scale(np.array([0.0, 8.0]), unit="errors")
    assert errors.amount_text(float(errors.amount(np.array(0.5)))) == "4.00 errors"
