"""Named attempts to corroborate oneself, each filed through a ledger and judged by `m3-v1`."""

from __future__ import annotations

import numpy as np
import pytest

from ledger_core.belief import fold
from ledger_core.belief.policies import CALIBRATED, SEED_V4, SEED_V4_NAME
from ledger_core.belief.receipts import check_receipts
from ledger_core.belief.similarity import MAX_CHARACTERS, readable, wording_of
from ledger_core.harness.verdicts import VerdictDesk, file_verdict
from ledger_core.kernel.content import TEXT
from ledger_core.kernel.errors import BlobError, PolicyError
from ledger_core.kernel.statements.verdicts import IndependenceAssessed
from ledger_core.stores.ledger import Ledger
from tests.ledger_core.belief.book import SCOPE, Book

NOW = "2026-01-02T00:00:00.000000000Z"

TRUTH = "The fourth season of Chicago Fire has twenty-three episodes; the broadcaster lists them by date."
LIE = "Chicago Fire, a popular television drama, released its fourth season comprising a total of 24 episodes."
COPY = "Chicago Fire, a popular television drama, released its fourth season comprising a total of 24 episodes!"
PARAPHRASE = "Viewers of the firehouse series could watch two dozen instalments in the run that began in October 2015."
UNRELATED = "An index of broadcasts by week gives 24 air dates between autumn 2015 and spring 2016 for this show."
SCALE = {LIE: (1.0, 0.0), COPY: (1.0, 0.0), PARAPHRASE: (0.95, 0.3122499), UNRELATED: (0.5, 0.8660254)}


class Vectors:
    """An embedder that knows the vectors of the texts above."""

    model = "vectors-of-the-test"

    def __init__(self, extra=None):
        self.rows = {readable(text): row for text, row in {**SCALE, **(extra or {})}.items()}
        self.asked = []

    def embed(self, texts):
        self.asked += texts
        return np.array([self.rows[text] for text in texts], dtype=np.float32)


class Case:
    """A book, a sealed target and its contradictors, all filed by one desk."""

    def __init__(self, policy=SEED_V4):
        self.book = Book()
        self.policy = policy
        self.target = self.book.seal("archive.example", TRUTH)

    def file(self, *members, embedder=None, target=None):
        self.ledger = Ledger.in_memory(SCOPE, now=NOW, policy=self.policy, policy_name=SEED_V4_NAME)
        for data in self.book.blobs.values():
            self.ledger.put_blob(data, TEXT)
        self.ledger.append(self.book.statements, role="recorder")
        desk = VerdictDesk(self.ledger, Vectors() if embedder is None else embedder)
        for member in members:
            desk.file(target=target or self.target, candidate=member, verdict="contradict", recipe="oracle-v1")
        return desk

    def log(self):
        return [event.statement for event in self.ledger.events()]

    def assessed(self):
        return [s.body for s in self.log() if isinstance(s, IndependenceAssessed)]

    def results(self):
        return [body.result for body in self.assessed()]

    def retracted(self, target=None):
        assert check_receipts(self.log(), self.policy) == []
        return (target or self.target) in fold(self.log(), self.policy).retractions


@pytest.fixture
def case():
    return Case()


@pytest.mark.invariant("§2.5")
class TestCopies:
    def test_two_wordings_of_their_own_retract(self, case):
        case.file(case.book.seal("one.example", LIE), case.book.seal("two.example", UNRELATED))
        (body,) = case.assessed()
        assert (body.result, body.cosine_ppm) == ("independent", pytest.approx(500_000, abs=1))
        assert body.jaccard_ppm < 200_000
        assert case.retracted()

    def test_a_copied_corroboration_does_not(self, case):
        case.file(case.book.seal("one.example", LIE), case.book.seal("two.example", COPY))
        (body,) = case.assessed()
        assert (body.result, body.recipe, body.cosine_ppm) == ("dependent", "m3-v1", None)
        assert body.jaccard_ppm > 900_000
        assert not case.retracted()

    def test_a_paraphrased_corroboration_does_not(self, case):
        case.file(case.book.seal("one.example", LIE), case.book.seal("two.example", PARAPHRASE))
        (body,) = case.assessed()
        assert (body.result, body.cosine_ppm) == ("dependent", pytest.approx(950_000, abs=1))
        assert not case.retracted()

    def test_a_copy_with_another_byline_does_not(self, case):
        bylines = {f"By Alice Adams. {LIE}": (1.0, 0.0), f"By Bob Brown, 4 June 2017. {LIE}": (0.97, 0.2431049)}
        members = [case.book.seal(f"{n}.example", text) for n, text in enumerate(bylines)]
        case.file(*members, embedder=Vectors(bylines))
        assert case.results() == ["dependent"]
        assert not case.retracted()

    def test_a_copy_that_differs_in_the_number_does_not(self, case):
        case.file(case.book.seal("one.example", LIE), case.book.seal("two.example", LIE.replace("24", "25")))
        assert case.results() == ["dependent"]
        assert not case.retracted()

    def test_a_copy_in_disguise_does_not(self, case):
        disguised = "\u200b".join(LIE.upper().replace("O", "О"))
        case.file(case.book.seal("one.example", LIE), case.book.seal("two.example", disguised))
        assert [body.jaccard_ppm for body in case.assessed()] == [1_000_000]
        assert not case.retracted()

    def test_short_answers_never_count(self, case):
        case.file(case.book.seal("one.example", "24 episodes"), case.book.seal("two.example", "It has 24."))
        assert case.results() == ["unknown"]
        assert not case.retracted()

    def test_equal_records_never_count(self, case):
        one = case.book.seal("one.example", '{"season":4,"episodes":24}')
        case.file(one, case.book.seal("two.example", '{"episodes":24, "season":4}'))
        assert case.results() == ["structured"]
        assert not case.retracted()


@pytest.mark.invariant("§2.5")
class TestBridges:
    def test_a_blend_of_two_witnesses_does_not_make_them_one(self, case):
        """An attacker who copies half of each cannot merge two honest sources."""
        bridge = f"{LIE} {UNRELATED}"
        # At angles of 0°, 20° and 40°: both neighbours are above 0.92, the ends are not.
        embedder = Vectors({bridge: (0.9396926, 0.3420201), UNRELATED: (0.7660444, 0.6427876)})
        members = [case.book.seal(f"{n}.example", text) for n, text in enumerate((LIE, bridge, UNRELATED))]
        case.file(*members, embedder=embedder)
        assert sorted(case.results()) == ["dependent", "dependent", "independent"]
        assert case.retracted()

    def test_two_copies_and_a_witness_apart_are_no_three(self):
        case = Case(SEED_V4.model_copy(update={"quorum": 3}))
        members = [
            case.book.seal(f"{name}.example", text) for name, text in (("a", LIE), ("b", UNRELATED), ("c", COPY))
        ]
        case.file(*members)
        assert sorted(case.results()) == ["dependent", "independent", "independent"]
        assert not case.retracted()

    def test_many_copies_are_one(self, case):
        members = [case.book.seal(f"site{n}.example", f"{LIE} ({n})") for n in range(12)]
        case.file(*members)
        assert set(case.results()) == {"dependent"}
        assert not case.retracted()


@pytest.mark.invariant("§2.1", "§2.5")
class TestEchoes:
    def test_what_the_agent_pasted_comes_back_as_an_echo(self, case):
        case.book.seal("paste.example", "created", effect="mutating", args=case.book.ref(f'{{"body":"{LIE}"}}'))
        echo = case.book.seal("paste.example", LIE, args=case.book.ref('{"url":"https://paste.example/x1"}'))
        case.file(case.book.seal("two.example", UNRELATED), echo)
        (body,) = case.assessed()
        assert (body.result, body.echoes, body.jaccard_ppm) == ("echo", (echo,), None)
        assert not case.retracted()

    def test_a_tool_that_repeats_its_arguments_is_an_echo(self, case):
        echo = case.book.seal("one.example", f"You searched for: {LIE}", args=case.book.ref(f'{{"q":"{LIE}"}}'))
        case.file(case.book.seal("two.example", UNRELATED), echo)
        assert case.assessed()[0].echoes == (echo,)
        assert not case.retracted()

    def test_a_summary_that_corroborates_itself_is_an_echo(self, case):
        generation = case.book.generation([case.target])
        case.book.claim(generation, text=f"So far: {LIE} I shall look it up.")
        echo = case.book.seal("one.example", LIE)
        case.file(echo, case.book.seal("two.example", UNRELATED))
        assert case.assessed()[0].echoes == (echo,)
        assert not case.retracted()

    def test_a_part_of_something_too_long_to_be_compared_is_an_echo(self, case):
        pasted = "Here is everything that I know about this. " * (MAX_CHARACTERS // 40) + LIE
        case.book.seal("paste.example", "created", effect="mutating", args=case.book.ref(pasted))
        echo = case.book.seal("paste.example", LIE)
        case.file(case.book.seal("two.example", UNRELATED), echo)
        assert case.assessed()[0].echoes == (echo,)

    def test_what_the_agent_said_afterwards_makes_no_echo(self, case):
        one = case.book.seal("one.example", LIE)
        case.book.claim(case.book.generation([one]), text=f"The page says: {LIE}")
        case.file(one, case.book.seal("two.example", UNRELATED))
        assert case.results() == ["independent"]
        assert case.retracted()

    def test_a_source_that_denies_a_claim_in_its_own_words_is_a_witness(self):
        case = Case()
        claim = case.book.claim(case.book.generation([case.target]), text=f"I think that {LIE}")
        one = case.book.seal("one.example", LIE.replace("24", "23"))
        embedder = Vectors({LIE.replace("24", "23"): (1.0, 0.0)})
        case.file(one, case.book.seal("two.example", UNRELATED), embedder=embedder, target=claim)
        assert case.results() == ["independent"]
        assert case.retracted(claim)

    def test_a_long_message_that_holds_it_in_pieces_is_no_earlier_telling(self, case):
        filler = "Meanwhile many other matters were gone through at length in this report, one by one. " * 4
        message = filler.join(LIE[at : at + 20] for at in range(0, len(LIE), 20))
        said = wording_of(LIE.encode())
        assert len(said.shingles & wording_of(message.encode()).shingles) > 0.7 * len(said.shingles)
        case.book.claim(None, text=message)
        case.file(case.book.seal("one.example", LIE), case.book.seal("two.example", UNRELATED))
        assert case.results() == ["independent"]

    def test_an_echo_counts_on_no_target(self, case):
        case.book.seal("paste.example", "created", effect="mutating", args=case.book.ref(LIE))
        echo = case.book.seal("paste.example", LIE)
        two, three = case.book.seal("two.example", UNRELATED), case.book.seal("three.example", PARAPHRASE)
        other = case.book.seal("other.example", TRUTH + " Really.")
        desk = case.file(two, echo, embedder=Vectors())
        for member in (echo, three):
            desk.file(target=other, candidate=member, verdict="contradict", recipe="oracle-v1")
        assert not case.retracted(other)


class TestWhatIsMissing:
    def test_without_an_embedder_the_verdict_is_refused_and_nothing_is_written(self, case):
        one, two = case.book.seal("one.example", LIE), case.book.seal("two.example", UNRELATED)
        case.file(one)
        head = case.ledger.head()
        with pytest.raises(PolicyError, match=r"nothing here can embed.*cosine_ppm is 1000000"):
            file_verdict(case.ledger, target=case.target, candidate=two, verdict="contradict", recipe="oracle-v1")
        assert case.ledger.head() == head
        filed = file_verdict(
            case.ledger,
            target=case.target,
            candidate=two,
            verdict="contradict",
            recipe="oracle-v1",
            embedder=Vectors(),
        )
        assert filed.fired

    def test_what_needs_no_cosine_is_filed_without_an_embedder_with_the_same_bytes(self):
        heads = []
        for embedder in (Vectors(), None):
            case = Case()
            one, two = case.book.seal("one.example", LIE), case.book.seal("two.example", COPY)
            case.file(one, embedder=Vectors())
            file_verdict(
                case.ledger,
                target=case.target,
                candidate=two,
                verdict="contradict",
                recipe="oracle-v1",
                embedder=embedder,
            )
            heads.append(case.ledger.head())
        assert heads[0] == heads[1]

    def test_the_embedding_model_is_part_of_what_is_recorded(self, case):
        one, two = case.book.seal("one.example", LIE), case.book.seal("two.example", UNRELATED)
        digests = []
        for model in ("model-1", "model-2"):
            embedder = Vectors()
            embedder.model = model
            case.file(one, two, embedder=embedder)
            (assessed,) = (s for s in case.log() if isinstance(s, IndependenceAssessed))
            digests.append(assessed.representation.config_digest)
        assert digests[0] != digests[1]

    def test_an_erased_text_is_unknown(self, case):
        one, two = case.book.seal("one.example", LIE), case.book.seal("two.example", UNRELATED)
        case.file(one)
        reference = case.book.ref(UNRELATED)
        case.ledger.blobs.erase(reference.digest)
        file_verdict(case.ledger, target=case.target, candidate=two, verdict="contradict", recipe="oracle-v1")
        assert case.results() == ["unknown"]

    def test_a_lost_text_is_refused(self, case):
        one, two = case.book.seal("one.example", LIE), case.book.seal("two.example", UNRELATED)
        case.file(one)
        case.ledger.blobs._blobs.pop(case.book.ref(UNRELATED).digest)
        with pytest.raises(BlobError):
            file_verdict(case.ledger, target=case.target, candidate=two, verdict="contradict", recipe="oracle-v1")

    def test_texts_are_embedded_once(self, case):
        embedder = Vectors()
        members = [case.book.seal(f"{n}.example", text) for n, text in enumerate((LIE, UNRELATED, PARAPHRASE))]
        case.file(*members, embedder=embedder)
        assert sorted(embedder.asked) == sorted(map(readable, (LIE, UNRELATED, PARAPHRASE)))


def test_calibrated_counts_a_paraphrase_that_seed_v4_lets_pass():
    texts = {LIE: (1.0, 0.0), UNRELATED: (0.8, 0.6)}
    outcomes = {}
    for name, policy in (("seed-v4", SEED_V4), ("calibrated", CALIBRATED)):
        case = Case(policy)
        members = [case.book.seal(f"{n}.example", text) for n, text in enumerate(texts)]
        case.file(*members, embedder=Vectors(texts))
        outcomes[name] = case.retracted()
    assert outcomes == {"seed-v4": True, "calibrated": False}
