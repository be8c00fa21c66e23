from deepspeech.util.figures.errors.alignment import ErrorKinds, align
from deepspeech.util.figures.errors.confusions import Confusion, Confusions, ItemErrors


def confusions_of(*pairs: tuple[str, str]) -> Confusions:
    confusions = Confusions()
    for number, (said, heard) in enumerate(pairs, start=1):
        confusions.add(number, align(said.split(), heard.split()))
    return confusions


def test_the_most_frequent_errors_come_first_with_examples_of_each() -> None:
    confusions = confusions_of(("a b", "a c"), ("b b", "c c"), ("a", "a d"), ("e", ""), ("b", "c"), ("b", "c"))
    first, *others = confusions.most_frequent(9)
    assert first == Confusion("b", "c", 5, (1, 2, 5))
    assert sorted(others, key=str) == [Confusion("e", None, 1, (4,)), Confusion(None, "d", 1, (3,))]
    assert confusions.most_frequent(1) == [first]


def test_the_errors_of_an_item_are_those_where_it_was_said_or_inserted() -> None:
    errors = {each.item: each for each in confusions_of(("a b a", "a c a"), ("a", ""), ("b", "b a")).by_item()}
    assert errors["a"] == ItemErrors("a", said=3, substituted=0, deleted=1, inserted=1)
    assert errors["b"] == ItemErrors("b", said=2, substituted=1, deleted=0, inserted=0)
    assert "c" not in errors  # it was only heard in place of another word
    assert errors["a"].rate == 2 / 3


def test_the_errors_of_each_kind_are_those_of_all_utterances() -> None:
    kinds = confusions_of(("a b", "a c"), ("b b", "c c"), ("a", "a d"), ("e", "")).kinds()
    assert kinds == ErrorKinds(substitutions=3, insertions=1, deletions=1)


def test_the_table_has_all_else_and_nothing_after_its_items() -> None:
    pairs = [("a b", "a c"), ("b", "c"), ("d", ""), ("b", "b e"), ("f", "f"), ("g", "b")]
    table = confusions_of(*pairs).table(2)
    assert table.items == ("b", "c")
    assert table.counts == (
        (1, 2, 0, 0),  # b: right once, twice heard as c
        (0, 0, 0, 0),  # c was never said
        (1, 0, 0, 1),  # all else: once heard as b, once not at all
        (0, 0, 1, 0),  # nothing was said, and something else was heard
    )


def test_without_errors_there_is_nothing_to_list() -> None:
    confusions = confusions_of(("a b", "a b"))
    assert confusions.most_frequent(5) == []
    assert confusions.table(5).items == ()
