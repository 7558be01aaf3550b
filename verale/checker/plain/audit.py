"""The steps of certificates/v1.md in interval arithmetic: from 3, the subject, to 9, and those of a witness."""

from __future__ import annotations

from collections.abc import Callable

from ..certificate import PatchStatement
from ..deployment import Deployment, are_binary32, unproved
from ..errors import UnprovedError
from ..network.enclosure import Enclosure
from ..numbers import Numbers
from ..read.latents import Image
from ..read.pictures import Picture
from ..steps import Given, Steps
from .assignment import Assignment
from .cost import best_steps, cost, require_within
from .deployment import deployed_margins, require_deployed
from .evaluation import Evaluation, HeadEvaluation
from .instance import require_domain, require_not_refuted, require_true
from .joint import Joint
from .margin import enough, proved_margins, require
from .minimality import require_minimal
from .mixed import Mixed
from .numbers import numbers_of
from .picture import enclosed_evaluation
from .quadratic import QuadraticRule
from .similarity import Box
from .simplex import Simplex
from .spatial import SpatialRule
from .top_k import TopK

__all__ = ["PlainAudit"]


class PlainAudit(Steps):
    """One certificate in a kernel that the rules compute with.

    Args:
        given: the certificate.
        quadratic: the rule of this head in the kernel.
        enclosure: of the pictures' network in the kernel, given the arithmetic; None without pictures.
    """

    def __init__(
        self, given: Given, *, quadratic: QuadraticRule, enclosure: Callable[[str], Enclosure] | None = None
    ) -> None:
        super().__init__(given)
        self._quadratic = quadratic
        asked = given.certificate.arithmetic
        self._enclosure = None if enclosure is None or asked is None else enclosure(asked)
        self._space = quadratic.space

    def run(self, minimality: bool, deployment: Deployment | None = None) -> None:
        self.ask(deployment)
        certificate, head = self._certificate, self._space.head
        image, picture = self._subject(), self._picture()  # 3.
        certificate.check_against(head)  # 4. Statements
        asked = minimality and "minimality" in certificate.claims
        limit, counted, of_network = self._allowed(image, picture), cost(certificate, self._space, asked), 0
        if self._enclosure is not None and picture is not None:
            of_network = self._enclosure.numbers
            counted = counted.plus(self._enclosure.steps, of_network)
        require_within(limit, counted, of_network)
        self._space.work.allow(limit, counted.steps)
        evaluation = self._evaluated(image, picture)  # 5.
        try:
            self._entailment(asked, deployment, image)
        except UnprovedError as error:
            # Step 6 comes before step 7. What is refuted cannot be entailed, so it is tried only where the proof fails.
            if evaluation is not None and error.reason == "entailment":
                require_not_refuted(head, certificate.predicted, evaluation)
            raise

    def numbers(self) -> Numbers:
        certificate, head = self._certificate, self._space.head
        self._require_head()
        certificate.check_against(head)
        limit, counted = self._allowed(None), cost(certificate, self._space, False)
        require_within(limit, counted, 0)
        self._space.work.allow(limit, counted.steps)
        box = self._bounded()
        return numbers_of(certificate, box, self._rule().box((), certificate.patches), self.margins)

    def refute(self, image: Image) -> None:
        certificate, head = self._certificate, self._space.head
        self._space.work.allow(None)
        self._require_head()  # 3., of the head alone
        certificate.check_against(head)  # 4. Statements
        require_not_refuted(head, certificate.predicted, self._satisfied(image))  # 5. and 6.
        raise UnprovedError(
            "witness",
            f"the witness satisfies every statement, and no rival's logit is certainly at least that of class"
            f" {certificate.predicted}: it is no counterexample, which proves nothing",
        )

    def _entailment(self, minimality: bool, deployment: Deployment | None, image: Image | None) -> None:
        """Steps 7, 8 and 9."""
        certificate, head = self._certificate, self._space.head
        box = self._entailed()  # 7. Entailment
        self.proved.add("entailment")
        if minimality:  # 8. Minimality
            together = self._together()
            boxes = self._rule().boxes_without(certificate.statements, certificate.patches)
            provable = None if together is None else together.provable
            require_minimal(
                head, certificate.predicted, certificate.statements, boxes, self.margins, self._space.work, provable
            )
            self.proved.add("minimality")
        if deployment is not None:  # 9. Deployment
            self.deployed = deployed_margins(self._space, certificate, box, self.margins, deployment)
            if self._has_better and not all(margin is None or margin > 0 for margin in self.deployed):
                box = self._bounded()
                self.deployed = deployed_margins(self._space, certificate, box, self.margins, deployment)
            require_deployed(self.deployed)
            if image is not None and not are_binary32(image.exact):
                raise unproved("the latents are no binary32 numbers, so perhaps none that are satisfy the statements")
            if "picture" in self.proved and certificate.arithmetic == "real":
                raise unproved(
                    "of the picture real latents are proved, so perhaps none in binary32 satisfy the statements"
                )
            self.proved.add("deployment")

    def _entailed(self) -> Box:
        """The activations, given the statements, with which the stated margins are proved. Raises UnprovedError."""
        box, stated = self._bounded(quick=True), self._certificate.margins
        if self._has_better and not enough(self.margins, stated):
            box = self._bounded()
        require(self.margins, stated)
        return box

    @property
    def _has_better(self) -> bool:
        """Whether other weights may prove more."""
        patches = any(isinstance(each, PatchStatement) for each in self._certificate.statements)
        return patches and self._space.head.geometry != "softmax"

    def _bounded(self, quick: bool = False) -> Box:
        """The activations, given the statements; the margins that follow are kept."""
        if not quick and self._has_better:
            self._space.work.take(best_steps(self._certificate, self._space))
        box = self._rule().box(self._certificate.statements, self._certificate.patches, quick)
        self.margins = proved_margins(self._space.head, box, self._certificate.predicted)
        together = self._together()
        if together is not None:
            self.margins = together.margins(box, self.margins)
        return box

    def _evaluated(self, image: Image | None, picture: Picture | None) -> HeadEvaluation | None:
        """Step 5. The latents that the certificate names, or that the network gives for the picture that it names,
        satisfy every statement."""
        if image is not None:
            return self._instance(image)
        if self._enclosure is None or picture is None:
            return None
        latents = self._enclosure.latents(picture)
        evaluation = enclosed_evaluation(self._space, self._certificate, latents)
        self.proved.add("picture")
        return evaluation

    def _instance(self, image: Image) -> Evaluation:
        """Step 5. The latents that the certificate names satisfy every statement."""
        evaluation = self._satisfied(image)
        self.proved.add("instance")
        return evaluation

    def _satisfied(self, image: Image) -> Evaluation:
        """The evaluation of latents. Raises UnprovedError unless they lie in the domain and satisfy every statement."""
        require_domain(self._space.head, image.exact, self._certificate.patches)
        evaluation = Evaluation(self._space, image.exact)
        require_true(self._certificate, evaluation)
        return evaluation

    def _together(self) -> Assignment | Joint | None:
        """What bounds a margin otherwise than term by term."""
        match self._certificate.paradigm:
            case "assignment":
                return Assignment(self._space, self._certificate)
            case "joint":
                return Joint(self._quadratic, self._certificate)
            case _:
                return None

    def _rule(self) -> TopK | SpatialRule | Mixed:
        match self._certificate.paradigm:
            case "top_k" | "sparse":
                return TopK(self._space)
            case "mixed":
                return Mixed(self._quadratic)
            case _:  # statements about patches: of masses the rule is that of masses, whatever the paradigm's name
                masses = self._space.head.geometry == "softmax"
                return SpatialRule(self._space, Simplex(self._space) if masses else self._quadratic)
