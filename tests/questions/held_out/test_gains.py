"""A few simulated reports without a true gain; gains.py makes more."""

from tests.questions.held_out.gains import simulate


def test_reports_of_no_gain_claim_none_and_their_intervals_cover_it() -> None:
    found = simulate(40)
    assert found["better"] <= 0.05
    assert 0.93 <= found["covered"] <= 0.97
    assert found["seeds alone"] < 0.5, "these are no evidence for other networks"
    assert found["off"] < 1e-9, "SciPy's ends"
