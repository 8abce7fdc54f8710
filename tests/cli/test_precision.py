"""--precision: as many digits as are asked for, from exact decimals."""

from __future__ import annotations

import json
from typing import Any

import mpmath
import pytest


def test_digits_of_value_and_gradient(do: Any) -> None:
    assert do("grad", "sqrt(x)", "--at", "x=2", "--precision", "40", "--format", "value").out == (
        "0.3535533905932737622004221810524245196424\n"
    )
    assert do("grad", "0.1*x^2 + pi", "--at", "x=0.3", "--precision", "30").out == (
        "value  3.15059265358979323846264338328\nd/dx   0.06\n"
    )
    with mpmath.workdps(60):
        want = mpmath.nstr(mpmath.gamma(mpmath.mpf(1) / 3) * mpmath.erf(mpmath.mpf("0.2")), 50)
    assert do("eval", "gamma(x)*erf(y)", "x=1/3", "y=0.2", "--precision", "50", "-F", "value").out.strip() == want
    assert do("eval", "y = x; for k in 1..3 { y = y*y }; y", "x=1e-100", "--precision", "9").out == "value  1e-800\n"


@pytest.mark.parametrize(
    ("text", "slope"),
    [
        ("cbrt(x)", lambda x: 1 / (3 * mpmath.cbrt(x) ** 2)),
        ("exp2(x)", lambda x: 2**x * mpmath.log(2)),
        ("log2(x)", lambda x: 1 / (x * mpmath.log(2))),
        ("log10(x)", lambda x: 1 / (x * mpmath.log(10))),
        ("deg2rad(x)", lambda x: mpmath.pi / 180),
        ("rad2deg(x)", lambda x: 180 / mpmath.pi),
        ("erf(x)", lambda x: 2 * mpmath.exp(-(x**2)) / mpmath.sqrt(mpmath.pi)),
        ("erfc(x)", lambda x: -2 * mpmath.exp(-(x**2)) / mpmath.sqrt(mpmath.pi)),
        ("erfinv(x)", lambda x: mpmath.sqrt(mpmath.pi) / 2 * mpmath.exp(mpmath.erfinv(x) ** 2)),
        ("ndtr(x)", lambda x: mpmath.npdf(x)),
        ("leaky_relu(-x)", lambda x: mpmath.mpf(-1) / 100),
        ("mean([x, 2, 4])", lambda x: mpmath.mpf(1) / 3),
        ("var([x, 2, 4])", lambda x: 2 * (x - (x + 6) / 3) / 3),
    ],
)
def test_the_numbers_within_rules_are_exact_too(do: Any, text: str, slope: Any) -> None:
    with mpmath.workdps(60):
        want = mpmath.nstr(slope(mpmath.mpf("0.3")), 40)
    assert do("grad", text, "x=0.3", "--precision", "40", "-F", "value").out.strip() == want.removesuffix(".0")


def test_forms(do: Any) -> None:
    found = json.loads(do("grad", "x*y", "x=0.1", "y=3", "--wrt", "x", "--precision", "20", "--json").out)
    assert (found["value"], found["gradient"]) == ("0.3", {"x": "3"})
    assert do("eval", "2^100 + x\u00b2", "x=1", "--precision", "40").out == "value  1267650600228229401496703205377\n"
    assert do("eval", "x > 1", "x=2", "--precision", "20").out == "value  true\n"
    assert do("eval", "log(0)", "--precision", "20").out == "value  -inf\n"


def test_notes_and_strict(do: Any) -> None:
    """What float64 notes of the point holds of more digits too."""
    done = do("eval", "0/0", "--precision", "20", "--json")
    found = json.loads(done.out)
    assert found["value"] == "NaN" and found["notes"][0]["kind"] == "nonfinite"
    assert do("eval", "0/0", "--precision", "20", "--strict").status == 1
    assert "has a kink at 0" in do("grad", "abs(x)", "x=0", "--precision", "20").err
    assert do("grad", "abs(x)", "x=0", "--precision", "20", "--strict").status == 1
    assert not do("eval", "1e999*x", "x=1e300*1e300/1e600", "--precision", "20").err
    assert do("eval", "1 < 2", "--precision", "9", "--json").out == (
        '{"expression": "1 < 2", "at": {}, "value": true}\n'
    )


@pytest.mark.parametrize(
    ("text", "slope"),
    [
        ("relu(x) - relu(-x)", "1"),
        ("max(x, 2*x) + min(x, 2*x)", "3"),
        ("x*abs(x)", "0"),
        ("erf(relu(x)) - erf(relu(-x))", "1.1283791670955125738961589031215451717"),
    ],
)
def test_at_a_kink_both_sides_decide(do: Any, text: str, slope: str) -> None:
    done = do("grad", text, "x=0", "--precision", "38", "-F", "value")
    assert (done.out, done.err) == (f"{slope}\n", "")


def test_conventions(do: Any) -> None:
    words = ("grad", "abs(x)", "x=0", "--precision", "20", "-F", "value")
    assert do(*words).out == "0\n"
    assert do(*words, "--convention", "jax").out == "1\n"
    for other in (["--sensitivity"], ["--checkpoint", "5"]):
        assert "do not go together" in do(*words, *other).err


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        (["[1, 2]", "--precision", "9"], 1, "shape (2,)"),
        (["x", "--precision", "9"], 2, "no value for 'x'"),
        (["x", "--sweep", "x=0:1:2", "--precision", "9"], 2, "--sweep"),
        (["1", "--precision", "0"], 2, "--precision"),
        (["1", "--precision", "99999"], 2, "10000"),
    ],
)
def test_refusals(do: Any, words: list[str], status: int, said: str) -> None:
    done = do("eval", *words)
    assert done.status == status and said in done.err and not done.out
