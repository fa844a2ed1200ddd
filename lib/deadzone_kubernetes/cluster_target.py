"""What both ways of running trials in a cluster share: the connection, the lock, and a trial in a
container."""

import secrets
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Self

from deadzone.errors import NotGivenBackError
from deadzone.plugins import (
    DeadzoneError,
    Limits,
    Surroundings,
    Target,
    TargetError,
    Treatment,
    is_number,
)
from deadzone.run.targets.interrupts import undisturbed
from deadzone.study.target_spec import POD_LIMITS
from deadzone_kubernetes.api.cluster import Cluster
from deadzone_kubernetes.container.resources import CPU, FACTORS, in_words, quantity
from deadzone_kubernetes.lease.lease import Lease
from deadzone_kubernetes.specs import KubernetesTargetSpec


class ClusterTarget(Target, ABC):
    """A target in a cluster, which whoever sweeps it has locked while it is open."""

    factors: tuple[str, ...] = POD_LIMITS
    cluster: Cluster
    """The open connection."""
    must_give_back: bool
    """Whether it is an error that something was not left as it was, of a sweep without another
    one."""

    def __init__(
        self, spec: KubernetesTargetSpec, levels: Sequence[Limits], around: Surroundings
    ) -> None:
        """levels: the limits and requests the study will ask for."""
        self.spec, self.around = spec, around
        self.levels = tuple(dict.fromkeys(levels)) or (self.wanted(Treatment({})),)
        self.token = secrets.token_hex(4)
        self._lease: Lease | None = None

    def __enter__(self) -> Self:
        for key, level in self._amounts():
            quantity(key, level)  # refuses what cannot be put in force as it is written
        self.cluster = Cluster(self.spec.context, self.around.note)
        try:
            self._open()
        except BaseException as error:
            self.__exit__(type(error), error, None)
            raise
        return self

    @abstractmethod
    def _open(self) -> None:
        """Find what trials run in, and lock it."""

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        stopped = self._stopped_by()
        with undisturbed(), self.cluster.cleaning_up():
            problem = self._close()
        if problem:
            text = f"{error}\n{problem}" if str(error or "") else problem
            if self.must_give_back and isinstance(error, DeadzoneError | KeyboardInterrupt | None):
                raise NotGivenBackError(text) from error
            if isinstance(error, DeadzoneError):
                raise type(error)(text) from error
            self.around.note(problem)
        if error is None and stopped:
            raise stopped

    def _stopped_by(self) -> DeadzoneError | None:
        """What ends a sweep with an error although each of its trials was measured."""
        return None

    @abstractmethod
    def _close(self) -> str | None:
        """Leave everything as it was; what could not be done, in words."""

    def check_lease(self) -> None:
        """Raise TargetError if another sweep took this one for dead, and has its lock now."""
        assert self._lease is not None
        self._lease.check()

    def wanted(self, treatment: Treatment) -> Limits:
        """The limits and requests of a treatment, or of the target where one is no factor."""
        own = {name: getattr(self.spec, name) for name in self.factors}
        return Limits(**{name: treatment.levels.get(name, own[name]) for name in own})

    def _amounts(self) -> list[tuple[str, int | float]]:
        """Every amount that will be asked for, once."""
        every = (
            (key, getattr(limits, factor))
            for limits in self.levels
            for factor, key in FACTORS.items()
        )
        return list(dict.fromkeys((key, level) for key, level in every if is_number(level)))

    def _check_fits(self, most: float, whose: str) -> None:
        """Raise TargetError for a limit or request above the most cores there are: it could not be,
        or would limit nothing."""
        for key, level in self._amounts():
            if key.endswith(CPU) and level > most:
                raise TargetError(
                    f"A CPU {in_words(key)} of {level:g} cores is beyond {whose}. Use smaller "
                    "ones, and none for no limit."
                )
