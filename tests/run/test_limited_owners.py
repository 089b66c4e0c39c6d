"""Of many rows, some own the explanations that a slow relation compares with all rows."""

import numpy as np
import pytest

import faithkit

RNG = np.random.default_rng(0)
N, OWNERS = 300, 50


class Near(faithkit.plugin.Relation):
    """Rows within 0.05 of the explained one, of at most fifty owners."""

    name = "near"
    instance_only = True
    max_owners = OWNERS

    def key(self, explanations):
        return explanations.instances[:, 0]

    def holds(self, sample, explanations):
        return np.abs(explanations.instances[:, :1] - sample.X[:, 0]) < 0.05


X = RNG.random((N, 2))
LABELS = (X[:, 0] + 0.1 * RNG.normal(size=N) > 0.5).astype(int)
POOL = RNG.random((40, 2)), RNG.integers(0, 2, 40)


def score(X, labels, **options):
    return faithkit.score(
        labels, [f"word {i}" for i in range(len(X))], X, relation=Near(), control_draws=0, **options
    )


def find_owners(result):
    count = result.evidence.counts["sufficiency"]
    return count.row_numbers[:OWNERS]


@pytest.mark.parametrize("pool", [None, POOL])
def test_the_owners_are_compared_with_all_rows_as_in_a_double_loop(pool):
    result = score(X, LABELS, pool=pool)
    rows = X if pool is None else np.concatenate([X, pool[0]])
    labels = LABELS if pool is None else np.concatenate([LABELS, pool[1]])
    scores = []
    for i in find_owners(result):
        others = [j for j in range(len(rows)) if j != i and abs(rows[j, 0] - X[i, 0]) < 0.05]
        scores.append(np.mean([labels[j] == LABELS[i] for j in others]) if others else 0.0)
    assert result.sufficiency.value == pytest.approx(np.mean(scores))
    assert result.design.owners == OWNERS
    assert "Sufficiency: " in str(result)
    assert f"{OWNERS} instances" in " ".join(str(result).split())
    assert (
        f"sufficiency of {OWNERS} rows, chosen by their content and compared with all rows".capitalize()
        in " ".join(str(result).split())
    )


def test_the_owners_are_chosen_by_content_whatever_the_order_of_rows():
    order = RNG.permutation(N)
    first, second = find_owners(score(X, LABELS)), order[find_owners(score(X[order], LABELS[order]))]
    assert sorted(first) == sorted(second)


def test_rows_keep_their_numbers_among_contradictions_and_local_results():
    result = score(X, LABELS)
    for contradiction in result.contradictions(5):
        for row in contradiction.rows:
            assert dict(contradiction.pair[list(contradiction.rows).index(row)].values)["0"] == pytest.approx(
                X[row, 0]
            )
    owner, other = find_owners(result)[0], np.setdiff1d(np.arange(N), find_owners(result))[0]
    for row in (int(owner), int(other)):
        others = [j for j in range(N) if j != row and abs(X[j, 0] - X[row, 0]) < 0.05]
        expected = np.mean([LABELS[j] == LABELS[row] for j in others])
        assert result.local(row).sufficiency.value == pytest.approx(expected)


def test_with_weights_and_clusters_the_owners_are_compared_with_all_rows_of_other_clusters():
    customer, weights = np.arange(N + 40) // 2, RNG.random(N + 40) + 0.5
    result = score(X, LABELS, pool=POOL, clusters=customer, weights=weights)
    rows, labels = np.concatenate([X, POOL[0]]), np.concatenate([LABELS, POOL[1]])
    owners, scores = find_owners(result), []
    for i in owners:
        others = np.flatnonzero((customer != customer[i]) & (np.abs(rows[:, 0] - X[i, 0]) < 0.05))
        scores.append(np.average(labels[others] == LABELS[i], weights=weights[others]))
    assert result.sufficiency.value == pytest.approx(np.average(scores, weights=weights[owners]))
    assert (result.design.owners, result.design.clusters) == (OWNERS, 150)


@pytest.mark.parametrize(("n_background", "source"), [(N, "the background"), (N - 1, "the rows themselves")])
def test_a_relation_learns_from_the_background_if_it_has_as_many_rows_as_can_be_held(n_background, source):
    learnt = []

    class Learns(Near):
        phrase = "rows within 0.05"

        def fit(self, background, n):
            learnt.append((len(background), n))
            return self

    X = np.column_stack([RNG.random((N, 2)), np.arange(N)])
    background, pool = RNG.random((n_background, 3)), RNG.random((20, 3))
    result = faithkit.evaluate(
        lambda X: X[:, 0] > 0.5,
        X,
        lambda X: X.tolist(),
        background=background,
        relation=Learns(),
        control_draws=0,
    )
    assert learnt[-1] == (N, N)
    assert result.relation_learnt_from == source
    assert "of rows within 0.05" in " ".join(str(result).split())
    assert f"learnt from {source}" in " ".join(result.to_text(verbose=True).split())
    faithkit.evaluate(
        lambda X: X[:, 0] > 0.5,
        X,
        lambda X: X.tolist(),
        background=background,
        relation=Learns(),
        pool=pool,
        control_draws=0,
    )
    assert learnt[-1] == (N + 20, N + 20)  # the rows of the pool can be held, too
