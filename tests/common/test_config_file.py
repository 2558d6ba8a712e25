"""Numbers in configurations are finite; what is refused is named with its file."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from common.config_file import check_config
from common.errors import KneepointError
from experiments.models.comparison import Repeat
from experiments.models.settings import Settings
from experiments.models.study import Study
from experiments.published import TableDescription
from networks.config import Network


@pytest.mark.parametrize("value", [float("inf"), float("-inf"), float("nan")])
@pytest.mark.parametrize(
    ("model", "data", "key"),
    [
        (Network, {"duration_s": "?"}, "duration_s"),
        (Network, {"delay_ms": "?"}, "delay_ms"),
        (Network, {"uplink": {"constant_mbps": "?"}}, "uplink.constant_mbps"),
        (Network, {"uplink": {"trace": "a", "cut": {"end_s": "?"}}}, "uplink.cut.end_s"),
        (Study, {"constants": {"window": "?"}}, "constants.window"),
        (Study, {"space": {"window": {"low": 1, "high": "?"}}}, "space.window.high"),
        (Study, {"space": {"window": {"values": [1, "?"]}}}, "space.window.values.1"),
        (
            Repeat,
            {"published": [{"setting": 0, "metric": "power", "mean": "?", "source": "s"}]},
            "published.0.mean",
        ),
        (Settings, {"real_time": {"busy_us": "?"}}, "real_time.busy_us"),
        (TableDescription, {"constants": {"window": "?"}}, "constants.window"),
    ],
)
def test_number_must_be_finite(
    model: type[BaseModel], data: Mapping[str, Any], key: str, value: float
) -> None:
    def filled(part: Any) -> Any:
        if isinstance(part, Mapping):
            return {name: filled(each) for name, each in part.items()}
        return [filled(each) for each in part] if isinstance(part, list) else _of(part, value)

    with pytest.raises(KneepointError, match=rf"{key}: {value!r} is invalid: it must be a finite"):
        check_config(filled(data), model, Path("file.yaml"))


def _of(part: Any, value: float) -> Any:
    return value if part == "?" else part
