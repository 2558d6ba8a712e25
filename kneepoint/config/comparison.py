"""Configuration models of repeats and comparisons, with published numbers."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any, Self

from pydantic import Field, model_validator

from kneepoint.common.config_file import ConfigModel, matching
from kneepoint.config.published import Metric
from kneepoint.config.study import ComparisonEngine, OneOrMore, SearchEngine, Setting
from kneepoint.engines.limits import LIMITS
from kneepoint.networks.config import EACH_ONCE, Name, Names


class PublishedSpread(ConfigModel):
    """Published statistics of repeated runs of one setting."""

    setting: int = Field(ge=0, description="index of the setting, from 0")
    metric: Metric = Field(description="metric of a run")
    mean: float = Field(description="published mean, or the single value of a table")
    standard_deviation: float | None = Field(
        default=None, ge=0, description="published standard deviation"
    )
    step: float = Field(gt=0, description="value of one unit in the mean's last printed digit")
    standard_deviation_step: float | None = Field(
        default=None,
        gt=0,
        description="value of one unit in the standard deviation's last "
        "printed digit; null: as step",
    )
    n: int | None = Field(default=None, ge=1, description="number of runs, if stated")
    source: str = Field(min_length=1, description="report and table, for captions")


def _require_settings(published: Iterable[Any], settings: Sequence[Setting]) -> None:
    """Refuses published numbers of a setting that does not exist."""
    for number, each in enumerate(published):
        if each.setting >= len(settings):
            raise ValueError(
                f"published {number} names setting {each.setting}, but the last setting is "
                f"{len(settings) - 1}; correct it"
            )


class Repeat(ConfigModel):
    """Settings replicated with fresh seeds: config/repeats/NAME.yaml."""

    title: str = Field(min_length=1, description="title in reports")
    engine: SearchEngine = Field(default="emulator", description="emulator or mahimahi")
    network: Name = Field(description="file of config/networks")
    repeats: int = Field(ge=1, description="replicates of each setting")
    settings: tuple[Setting, ...] = Field(min_length=1, description="settings to replicate")
    published: tuple[PublishedSpread, ...] = Field(
        default=(), description="published statistics to compare with"
    )

    @model_validator(mode="after")
    def _settings_exist(self) -> Self:
        _require_settings(self.published, self.settings)
        return self


class EngineRuns(ConfigModel):
    """An engine's part of a comparison."""

    repeats: int = Field(ge=1, description="replicates of each setting, on each network")
    networks: Annotated[tuple[Name, ...], Field(min_length=1), EACH_ONCE] | None = Field(
        default=None, description="networks on which this engine runs; null: all"
    )


class PublishedFigure(ConfigModel):
    """A published number of a comparison."""

    setting: int = Field(ge=0, description="index of the setting, from 0")
    traffic: Name | None = Field(
        default=None, description="traffic of the figure; null: the first traffic"
    )
    network: Name = Field(description="one of the networks")
    figure: Annotated[
        str,
        matching(
            r"(?a:[\w-]+\.[a-z]\w*)",
            "the name of a flow or probe, a dot and its metric, such as ping.rtt_mean_ms",
        ),
    ] = Field(description="NAME.METRIC of a flow or probe, or link.METRIC")
    value: float = Field(description="published value, or lower end of a printed range")
    high: float | None = Field(default=None, description="upper end of a printed range")
    step: float = Field(gt=0, description="value of one unit in the value's last printed digit")
    n: int | None = Field(default=None, ge=1, description="number of measurements, if stated")
    place: str = Field(min_length=1, description="place in the source")
    remark: str = Field(default="", description="note by the source's author or by the reader")

    @model_validator(mode="after")
    def _is_a_range(self) -> Self:
        if self.high is not None and self.high <= self.value:
            raise ValueError(f"high {self.high:g} must be greater than value {self.value:g}")
        return self


class Comparison(ConfigModel):
    """Settings under the same traffic on several networks: config/comparisons/NAME.yaml."""

    title: str = Field(min_length=1, description="title in reports")
    engines: Mapping[ComparisonEngine, EngineRuns] = Field(
        min_length=1,
        description="engines with their replicates: emulator, and kernel or mahimahi, which both "
        "run the kernel's TCP",
    )
    traffic: OneOrMore = Field(
        min_length=1, description="file of config/traffic, or a list of them"
    )
    networks: Names = Field(min_length=1, description="files of config/networks")
    settings: tuple[Setting, ...] = Field(
        min_length=1, description="controllers under study with their parameters"
    )
    source: str = Field(default="", description="source of the published numbers")
    published: tuple[PublishedFigure, ...] = Field(
        default=(), description="published numbers to compare with"
    )

    @model_validator(mode="after")
    def _is_consistent(self) -> Self:
        of_engines = {f"engines: {e}: networks": r.networks or () for e, r in self.engines.items()}
        for key, values in of_engines.items():
            self._require(values, self.networks, key)
        real = [engine for engine in self.engines if LIMITS[engine].has_kernels_tcp]
        if len(real) > 1:
            raise ValueError(f"engines: {' and '.join(real)} are two comparisons; remove one")
        if self.published and not self.source:
            raise ValueError("has published numbers, but no source; add it")
        _require_settings(self.published, self.settings)
        for number, each in enumerate(self.published):
            self._require([each.network], self.networks, f"published {number}: network")
            if each.traffic is not None:
                self._require([each.traffic], self.traffic, f"published {number}: traffic")
        return self

    @staticmethod
    def _require(values: Iterable[str], known: Iterable[str], key: str) -> None:
        for value in values:
            if value not in known:
                raise ValueError(f"{key} {value!r} is not part of the comparison; add it there")

    def networks_on(self, engine: ComparisonEngine) -> tuple[str, ...]:
        """Returns the networks on which an engine runs the comparison."""
        return self.engines[engine].networks or self.networks
