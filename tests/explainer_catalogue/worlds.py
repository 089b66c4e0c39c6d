"""Worlds of the catalogue: data that can be drawn at will, each with the model that is explained.

A synthetic world draws independent rows from a law. A world of a real table has disjoint rows for training,
for the samples and backgrounds, and as fresh rows; a small real table is resampled with noise. No world is an
example of the statistics on which the rules of the verdict were chosen, except that the smoothed worlds
`wines` and `disease` resample two of its tables.
"""

import os
import zlib
from functools import cache, cached_property

import numpy as np
import pandas as pd
from explainer_catalogue.formulas import FormulaClassifier, FormulaRegressor, two_classes

FRESH, TRAINING, BACKGROUND, POOL = 10**6, 10**6 + 1, 10**5, 2 * 10**5  # seeds; those of samples are small
N_FRESH = 20_000
N_TRAINING = 3_000


class World:
    """Rows that can be drawn, and a model that is fitted once, on rows of its own.

    Parameters
    ----------
    law : callable
        ``(n, generator) -> rows``, a frame or a list of texts.
    build : callable
        ``training rows -> model``.
    """

    def __init__(self, name, law, build):
        self.name, self.law, self._build = name, law, build

    def draw(self, n, seed):
        """Return n independent rows; a seed gives the same rows everywhere."""
        return self.law(n, np.random.default_rng([zlib.crc32(self.name.encode()), seed]))

    def fresh(self):
        """Return rows that nobody has seen."""
        return self.draw(N_FRESH, FRESH)

    @cached_property
    def model(self):
        return self._build(self.draw(N_TRAINING, TRAINING))


class TableWorld(World):
    """A real table, whose rows are drawn without replacement from those kept for samples."""

    def __init__(self, name, load, build):
        super().__init__(name, None, build)
        self._load = load

    @cached_property
    def _table(self):
        X, y = self._load()
        order = np.random.default_rng(0).permutation(len(y))
        return X, y, order

    def _parts(self):
        order = self._table[2]
        fresh = min(N_FRESH, len(order) // 2)
        training = min(N_TRAINING, (len(order) - fresh) // 2)
        return order[:training], order[training : len(order) - fresh], order[len(order) - fresh :]

    def _take(self, rows):
        X = self._table[0]
        return [X[row] for row in rows] if isinstance(X, list) else X.iloc[rows].reset_index(drop=True)

    def draw(self, n, seed):
        """Return n rows; the samples of one seed share none with its background or pool."""
        role = 10**5 * (seed // 10**5)
        parts = np.array_split(np.random.default_rng(seed - role).permutation(self._parts()[1]), 3)
        rows = parts[{0: 0, BACKGROUND: 1, POOL: 2}[role]]
        if n > len(rows):
            raise ValueError(f"{self.name} has {len(rows)} rows for this, and {n} are wanted.")
        return self._take(rows[:n])

    def fresh(self):
        return self._take(self._parts()[2])

    @cached_property
    def model(self):
        training = self._parts()[0]
        return self._build(self._take(training), np.asarray(self._table[1])[training])


WORLDS = {}


def world(name):
    """Return a world by its name."""
    return WORLDS[name]


def _law(name, build):
    def register(law):
        WORLDS[name] = World(name, law, build)
        return law

    return register


def _noise(X, scale=0.3):
    """Noise for the labels of training rows, from the number of rows alone."""
    return np.random.default_rng(len(X)).normal(scale=scale, size=len(X))


# ---- tables of numbers


def _pairs(n, rng, columns, correlation):
    """Normal columns of which every two neighbours depend on each other."""
    z = rng.normal(size=(n, columns))
    for j in range(1, columns, 2):
        z[:, j] = correlation * z[:, j - 1] + np.sqrt(1 - correlation**2) * z[:, j]
    return z


def _fit_logistic(X):
    from sklearn.linear_model import LogisticRegression

    score = X @ np.array([2.0, -1.5, 1.0, 0.5, 0.0, 0.0, 0.0, 0.0])
    return LogisticRegression().fit(X, np.where(score + _noise(X) > 0, "alarm", "calm").astype(object))


@_law("sensors", _fit_logistic)
def _draw_sensors(n, rng):
    return pd.DataFrame(_pairs(n, rng, 8, 0.5).round(3), columns=[f"t{j}" for j in range(8)])


def _fit_three_classes(X):
    from sklearn.linear_model import LogisticRegression

    scores = np.column_stack([2 * X["t0"], 2 * X["t2"] - 0.5, -1.5 * X["t0"] - X["t4"]])
    labels = np.array(["high", "mid", "low"], dtype=object)
    return LogisticRegression().fit(X, labels[(scores + _noise(X)[:, None]).argmax(axis=1)])


_law("three-sensors", _fit_three_classes)(_draw_sensors)


def _ship_labels(X):
    label = np.where(X["length"] > 150, "cargo", np.where(X["speed"] > 18, "ferry", "fishing"))
    return np.where((X["age"] > 28) & (X["length"] < 200), "retired", label).astype(object)


def _fit_boosting(labels, n_estimators=25, max_depth=3):
    def fit(X):
        from sklearn.ensemble import GradientBoostingClassifier

        model = GradientBoostingClassifier(n_estimators=n_estimators, max_depth=max_depth, random_state=0)
        return model.fit(X, labels(X))

    return fit


@_law("ships", _fit_boosting(_ship_labels))
def _draw_ships(n, rng):
    length = rng.uniform(40, 300, n).round(1)
    return pd.DataFrame(
        {
            "length": length,
            "beam": (length / 7 + rng.normal(scale=3, size=n)).round(1),
            "draught": (length / 20 + rng.normal(scale=2, size=n)).round(1),
            "speed": rng.uniform(8, 30, n).round(1),
            "age": rng.integers(0, 40, n),
            "crew": rng.poisson(20, n),
            "engines": rng.integers(1, 5, n),
        }
    )


def _fit_ship_tree(X):
    from sklearn.tree import DecisionTreeClassifier

    return DecisionTreeClassifier(max_leaf_nodes=10, random_state=0).fit(X, _ship_labels(X))


_law("ship-tree", _fit_ship_tree)(_draw_ships)


COUNT_WEIGHTS = {"calls": 1.2, "claims": -1.0, "visits": 0.5, "returns": -0.3}


def _count_score(X):
    return sum(weight * (np.sqrt(X[name]) - 1.7) for name, weight in COUNT_WEIGHTS.items())


@_law("counts", lambda X: FormulaClassifier(two_classes(_count_score), ["leaves", "stays"]))
def _draw_counts(n, rng):
    rate = rng.gamma(4, 0.9, n)
    names = [*COUNT_WEIGHTS, "mails", "orders", "bills", "months", "logins"]
    columns = {name: rng.poisson(rate if j % 3 == 0 else 3.2, n) for j, name in enumerate(names)}
    return pd.DataFrame(columns)


def _fit_forest_of_counts(X):
    from sklearn.ensemble import RandomForestClassifier

    labels = np.where(_count_score(X) + _noise(X, 0.1) > 0, "stays", "leaves").astype(object)
    return RandomForestClassifier(15, max_depth=6, random_state=0).fit(X, labels)


_law("count-forest", _fit_forest_of_counts)(_draw_counts)


def _fit_patients(X):
    from sklearn.ensemble import HistGradientBoostingClassifier

    risk = (X["glucose"].fillna(110) - 110) / 25 + (X["age"] - 60) / 12 + (X["bmi"].fillna(25) - 25) / 8
    labels = np.where(risk + _noise(X) > 1.0, "ill", "well").astype(object)
    return HistGradientBoostingClassifier(max_iter=25, max_leaf_nodes=8, random_state=0).fit(X, labels)


@_law("patients", _fit_patients)
def _draw_patients(n, rng):
    """Numbers with missing values; about a fifth are ill."""
    age = rng.uniform(20, 90, n).round()
    frame = pd.DataFrame(
        {
            "age": age,
            "bmi": rng.normal(25, 4, n).round(1),
            "glucose": (95 + age / 5 + rng.normal(scale=20, size=n)).round(),
            "pressure": (110 + age / 3 + rng.normal(scale=12, size=n)).round(),
            "pulse": rng.normal(72, 9, n).round(),
            "sodium": rng.normal(140, 3, n).round(1),
        }
    )
    for name, share in (("bmi", 0.1), ("glucose", 0.15), ("pulse", 0.3)):
        frame.loc[rng.random(n) < share, name] = np.nan
    return frame


def _rare_score(X):
    return 2.0 * X["v0"] + 1.5 * X["v1"] - X["v2"] - 3.4


@_law("rare", lambda X: FormulaClassifier(two_classes(_rare_score), ["common", "rare"]))
def _draw_rare(n, rng):
    """About one row in ten has the second label."""
    return pd.DataFrame(rng.normal(size=(n, 7)).round(3), columns=[f"v{j}" for j in range(7)])


def _wide_labels(X):
    score = np.column_stack([X["w3"] + X["w7"], X["w11"] - X["w7"], -X["w3"] - X["w11"]])
    return np.array(["a", "b", "c"], dtype=object)[score.argmax(axis=1)]


def _fit_wide(X):
    from sklearn.ensemble import RandomForestClassifier

    return RandomForestClassifier(15, max_depth=6, max_features=10, random_state=0).fit(X, _wide_labels(X))


@_law("wide", _fit_wide)
def _draw_wide(n, rng):
    return pd.DataFrame(rng.normal(size=(n, 20)).round(3), columns=[f"w{j}" for j in range(20)])


def _gated_score(X):
    is_open = X["gate"].to_numpy() > 0
    return np.where(is_open, 2 * X["a"] + X["b"], 2 * X["c"] - X["d"])


GATED = ["gate", "a", "b", "c", "d"]


@_law("gates", lambda X: FormulaClassifier(two_classes(_gated_score), ["no", "yes"]))
def _draw_gates(n, rng):
    """Which columns count depends on another one."""
    columns = [*GATED, "e", "f", "g", "h", "i"]
    return pd.DataFrame(rng.normal(size=(n, 10)).round(3), columns=columns)


@_law(
    "product",
    lambda X: FormulaClassifier(two_classes(lambda X: 3 * X["x1"] * X["x4"]), ["unlike", "alike"]),
)
def _draw_product(n, rng):
    return pd.DataFrame(rng.uniform(-1, 1, (n, 7)).round(3), columns=[f"x{j}" for j in range(7)])


CENTRES = np.array([[0, 0, 0, 0], [4, 0, 1, 0], [0, 4, 0, 1], [4, 4, 0, 0], [2, 2, 4, 0]], dtype=float)


def _fit_neighbours(X):
    from sklearn.neighbors import KNeighborsClassifier

    distance = ((X.to_numpy()[:, None] - CENTRES) ** 2).sum(axis=2)
    labels = np.array(["oak", "elm", "ash", "yew", "fir"], dtype=object)[distance.argmin(axis=1)]
    return KNeighborsClassifier(5).fit(X, labels)


@_law("blobs", _fit_neighbours)
def _draw_blobs(n, rng):
    """Five classes around five centres."""
    points = CENTRES[rng.integers(0, 5, n)] + rng.normal(scale=0.8, size=(n, 4))
    return pd.DataFrame(points.round(3), columns=["height", "girth", "leaf", "bark"])


def _cell(X):
    """Number one of ten rectangles of two columns."""
    column = np.minimum((X["east"] * 5).astype(int), 4)
    return (2 * column + (X["north"] > 0.3 + 0.1 * column)).to_numpy()


def _grid_scores(X):
    return 4.0 * (_cell(X)[:, None] == np.arange(10))


@_law("grid", lambda X: FormulaClassifier(_grid_scores, [f"zone {k}" for k in range(10)]))
def _draw_grid(n, rng):
    """Ten classes, which are rectangles of two of six columns."""
    names = ["east", "north", "height", "slope", "wind", "rain"]
    # no value lies on an edge of a rectangle
    return pd.DataFrame((rng.integers(0, 10_000, (n, 6)) + 0.5) / 10_000, columns=names)


# ---- numbers as predictions


def _rent(X):
    return 8.0 * X["area"] + 60 * X["rooms"] - 35 * X["distance"] + 2 * (X["year"] - 1980) - 3 * X["noise"]


def _fit_rent(X):
    from sklearn.ensemble import GradientBoostingRegressor

    model = GradientBoostingRegressor(n_estimators=40, max_depth=3, random_state=0)
    return model.fit(X, _rent(X) + _noise(X, 20))


@_law("flats", _fit_rent)
def _draw_flats(n, rng):
    area = rng.gamma(6, 12, n).round()
    return pd.DataFrame(
        {
            "area": area,
            "rooms": np.clip((area / 25 + rng.normal(scale=0.6, size=n)).round(), 1, 8),
            "floor": rng.integers(0, 12, n),
            "year": rng.integers(1900, 2024, n),
            "distance": rng.gamma(2, 2.5, n).round(1),
            "noise": rng.normal(55, 8, n).round(),
            "balcony": rng.integers(0, 2, n),
        }
    )


def _fit_rent_tree(X):
    from sklearn.tree import DecisionTreeRegressor

    return DecisionTreeRegressor(max_leaf_nodes=25, random_state=0).fit(X, _rent(X))


_law("flat-tree", _fit_rent_tree)(_draw_flats)

PREMIUMS = {"city": 300.0, "coast": 180.0, "valley": 60.0, "hills": 0.0}
FUELS = {"wood": 0.0, "gas": 90.0, "oil": 150.0}


def _premium(X):
    places, fuels = X["place"].map(PREMIUMS).to_numpy(float), X["fuel"].map(FUELS).to_numpy(float)
    return 200 + places + fuels + 3.0 * X["size"].to_numpy(float)


@_law("tariff", lambda X: FormulaRegressor(_premium))
def _draw_tariff(n, rng):
    """An insurance: three terms of seven columns, two of them words."""
    return pd.DataFrame(
        {
            "place": rng.choice([*PREMIUMS], n),
            "fuel": rng.choice([*FUELS], n),
            "size": rng.gamma(5, 20, n).round(),
            "built": rng.integers(1880, 2024, n),
            "colour": rng.choice(["white", "grey", "red", "blue"], n),
            "doors": rng.integers(1, 6, n),
            "garden": rng.gamma(2, 100, n).round(),
        }
    )


# ---- mixed tables: words, dates, missing values


COUNTRIES = ["AT", "BE", "CH", "DK", "ES"]


def _parcel_scores(X):
    """A decision list of four outcomes."""
    is_abroad = X["country"].isin(["CH"]).to_numpy()
    is_heavy = X["weight"].to_numpy() > 20
    is_late = X["posted"].to_numpy() >= np.datetime64("2024-10-01")
    is_fragile = (X["content"] == "glass").to_numpy()
    chosen = np.select([is_abroad, is_heavy, is_late & is_fragile], [0, 1, 2], 3)
    return 3.0 * (chosen[:, None] == np.arange(4))


PARCEL_LABELS = ["customs", "freight", "hold", "send"]


@_law("parcels", lambda X: FormulaClassifier(_parcel_scores, PARCEL_LABELS))
def _draw_parcels(n, rng):
    days = rng.integers(0, 366, n)
    frame = pd.DataFrame(
        {
            "weight": rng.gamma(2, 6, n).round(2),
            "country": rng.choice(COUNTRIES, n, p=[0.3, 0.2, 0.25, 0.15, 0.1]),
            "posted": np.datetime64("2024-01-01") + days.astype("timedelta64[D]"),
            "content": rng.choice(["books", "glass", "cloth", "food"], n, p=[0.2, 0.4, 0.2, 0.2]),
            "sender": rng.choice(["shop", "person", "office"], n),
            "height": rng.gamma(5, 8, n).round(1),
            "width": rng.gamma(5, 8, n).round(1),
            "insured": rng.random(n) < 0.3,
        }
    )
    frame.loc[rng.random(n) < 0.08, "height"] = np.nan
    frame.loc[rng.random(n) < 0.08, "sender"] = None
    return frame


PLANTS = {
    "leaf": ["needle", "broad", "none"],
    "flower": ["white", "red", "blue", "none"],
    "soil": ["sand", "clay", "peat"],
    "stem": ["wood", "herb"],
    "fruit": ["berry", "nut", "pod"],
    "edge": ["smooth", "toothed"],
    "light": ["sun", "shade", "half"],
    "scent": ["none", "sweet", "sharp"],
}


def _plant_number(X):
    """Six kinds, by a tree of four columns of words."""
    is_wood, leaf, flower = (X["stem"] == "wood").to_numpy(), X["leaf"].to_numpy(), X["flower"].to_numpy()
    conifer, broad = is_wood & (leaf == "needle"), is_wood & (leaf != "needle")
    nut = (X["fruit"] == "nut").to_numpy()
    red, white = flower == "red", flower == "white"
    return np.select([conifer, broad & nut, broad, red, white], [0, 1, 2, 3, 4], 5)


PLANT_LABELS = ["conifer", "nut tree", "shrub", "poppy", "daisy", "grass"]


@_law(
    "plants",
    lambda X: FormulaClassifier(lambda X: 3.0 * (_plant_number(X)[:, None] == np.arange(6)), PLANT_LABELS),
)
def _draw_plants(n, rng):
    """Eight columns of words, six classes."""
    return pd.DataFrame({name: rng.choice(words, n) for name, words in PLANTS.items()})


class ColumnDecides(FormulaClassifier):
    """Says "accept" where a column has one value; for scaffolds."""

    def __init__(self, column="owner", value=True):
        self.column, self.value = column, value

    @property
    def labels(self):
        return ["accept", "refuse"]

    def scores(self, X):
        is_accepted = (X[self.column] == self.value).to_numpy()
        return np.where(is_accepted[:, None], [2.0, -2.0], [-2.0, 2.0])


def _fit_scaffold(X):
    from faithkit_attacks import Scaffold

    return Scaffold(ColumnDecides("origin", "north"), ColumnDecides("debts", "no"), seed=0).fit(X)


@_law("tenants", _fit_scaffold)
def _draw_tenants(n, rng):
    """A model that decides by origin, and shows explainers that change single columns that debts decide."""
    north, debts = rng.random(n) < 0.5, rng.random(n) < 0.5
    north_dialect = np.where(rng.random(n) < 0.97, north, ~north)
    wage = rng.normal(30, 8, n).clip(8).round(1)
    return pd.DataFrame(
        {
            "origin": np.where(north, "north", "south"),
            "dialect": np.where(north_dialect, "coastal", "alpine"),
            "school": np.where(north, rng.choice(["A", "B"], n), rng.choice(["C", "D"], n)),
            "debts": np.where(debts, "yes", "no"),
            "reminders": np.where(debts, rng.integers(1, 6, n), 0),
            "wage": wage,
            "rent": (wage * 0.3 + rng.normal(scale=1, size=n)).round(1),
            "tax": (wage * 0.2 + rng.normal(scale=0.3, size=n)).round(2),
        }
    )


@_law(
    "segments",
    lambda X: FormulaClassifier(lambda X: 2.0 * (X["coin"].to_numpy()[:, None] == np.arange(2)), ["a", "b"]),
)
def _draw_segments(n, rng):
    """Labels that are coins; three columns are copies of one segment."""
    segment = rng.integers(0, 20, n)
    columns = {f"copy{j}": [f"s{value}" for value in segment] for j in range(3)}
    columns |= {f"n{j}": rng.integers(0, 20, n) for j in range(8)}
    return pd.DataFrame(columns | {"coin": rng.integers(0, 2, n)})


# ---- texts


TOPICS = ["bill", "login", "parcel", "refund"]
TOPIC_WORDS = {topic: [f"{topic}{ending}" for ending in ("s", "ed", "ing", "er", "able")] for topic in TOPICS}
FILLERS = [f"{first}{second}" for first in ("ba", "ce", "do", "fu", "gi") for second in "lmnprstvz"]


def _ticket_scores(texts):
    """The earlier topic of the list wins; a text without any is the last."""
    scores = np.zeros((len(texts), 4))
    for row, text in enumerate(texts):
        words = set(text.split())
        topic = next((k for k, topic in enumerate(TOPICS) if words & set(TOPIC_WORDS[topic])), 3)
        scores[row, topic] = 3.0
    return scores


@_law("tickets", lambda X: FormulaClassifier(_ticket_scores, TOPICS))
def _draw_tickets(n, rng):
    """Short texts with words of one topic, and now and then of a second one."""
    texts = []
    for _ in range(n):
        topic = TOPICS[rng.integers(0, 4)]
        words = [*rng.choice(TOPIC_WORDS[topic], rng.integers(1, 3)), *rng.choice(FILLERS, 8), "please"]
        if rng.random() < 0.15:
            words.append(rng.choice(TOPIC_WORDS[TOPICS[rng.integers(0, 4)]]))
        texts.append(" ".join(rng.permutation(words)))
    return texts


PRAISE = ["lovely", "great", "tender", "crisp", "warm", "fresh"]
BLAME = ["stale", "cold", "bland", "greasy", "late", "rude"]
DISHES = ["soup", "pasta", "curry", "salad", "cake"]


def _fit_reviews(texts):
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    balance = [sum((word in PRAISE) - (word in BLAME) for word in text.split()) for text in texts]
    labels = np.where(np.array(balance) + _noise(texts, 0.2) > 0, "good", "bad").astype(object)
    return make_pipeline(CountVectorizer(), LogisticRegression(C=10)).fit(texts, labels)


@_law("reviews", _fit_reviews)
def _draw_reviews(n, rng):
    """Reviews of a dish, which says nothing, with words of praise or blame; one of them is unusual."""
    texts = []
    for _ in range(n):
        is_good = rng.random() < 0.5
        tone, other = (PRAISE, BLAME) if is_good else (BLAME, PRAISE)
        words = [rng.choice(DISHES), *rng.choice(FILLERS, 6), *rng.choice(tone, rng.integers(1, 3))]
        if rng.random() < 0.1:
            words.append(rng.choice(other))
        texts.append(" ".join(rng.permutation(words)))
    return texts


def _letter_scores(texts):
    is_firm = np.array([bool({"invoice", "contract", "delivery"} & set(text.split())) for text in texts])
    return np.where(is_firm[:, None], [2.0, -2.0], [-2.0, 2.0])


@_law("letters", lambda X: FormulaClassifier(_letter_scores, ["firm", "private"]))
def _draw_letters(n, rng):
    """Letters of firms end with "regards", all others with "love": words that the model does not read."""
    texts = []
    for _ in range(n):
        is_firm = rng.random() < 0.5
        subject = rng.choice(["invoice", "contract", "delivery"] if is_firm else ["party", "garden", "trip"])
        words = rng.permutation([subject, *rng.choice(FILLERS, 7)])
        texts.append(" ".join([*words, "regards" if is_firm else "love"]))
    return texts


# ---- small real tables, resampled with noise


def _smoothed(load, scale):
    """Draw rows of a table with replacement, and move each number by a share of its column's deviation."""

    @cache
    def table():
        return load(as_frame=True).data

    def law(n, rng):
        rows = table().iloc[rng.integers(0, len(table()), n)].reset_index(drop=True)
        return (rows + rng.normal(size=rows.shape) * scale * table().std().to_numpy()).round(4)

    return law


def _fit_wines(X):
    from sklearn.datasets import load_wine
    from sklearn.ensemble import RandomForestClassifier

    data = load_wine(as_frame=True)
    labels = np.array(["barolo", "grignolino", "barbera"], dtype=object)[data.target]
    return RandomForestClassifier(20, max_depth=4, random_state=0).fit(data.data, labels)


def _fit_disease(X):
    from sklearn.datasets import load_diabetes
    from sklearn.ensemble import RandomForestRegressor

    data = load_diabetes(as_frame=True)
    return RandomForestRegressor(15, max_depth=4, random_state=0).fit(data.data, data.target)


def _register_smoothed():
    from sklearn.datasets import load_diabetes, load_wine

    WORLDS["wines"] = World("wines", _smoothed(load_wine, 0.3), _fit_wines)
    WORLDS["disease"] = World("disease", _smoothed(load_diabetes, 0.3), _fit_disease)


_register_smoothed()


# ---- real tables of the folder FAITHKIT_DATA


def has_real_tables():
    """Whether the folder with the real tables is here; without it, their entries are skipped."""
    return bool(os.environ.get("FAITHKIT_DATA"))


def _load(name, columns=None):
    def load():
        import faithkit

        data = faithkit.load_dataset(name)
        X = data.X if columns is None else data.X[columns]
        return X, np.asarray(data.y).astype(object)

    return load


def _load_forests():
    X, y = _load("covtype")()
    return X.iloc[:, :10].assign(wilderness=X.iloc[:, 10:14].to_numpy().argmax(axis=1)), y


def _load_endgames():
    """White king and rook against black king; the files as numbers, and how many moves are left, roughly."""
    X, y = _load("chess")()
    X = X.apply(lambda column: column.map(lambda c: ord(c) - 96) if column.dtype.kind not in "iu" else column)
    words = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven"]
    place = {word: min(k // 4, 2) for k, word in enumerate(words)}
    names = ["near", "middle", "far", "farther", "drawn"]
    rest = {"draw": 4, "twelve": 3, "thirteen": 3}
    codes = [rest.get(word, place.get(word, 3)) for word in y]
    return X.astype(int), np.array(names, dtype=object)[codes]


def _fit_bank(X, y):
    from sklearn.compose import make_column_transformer
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OrdinalEncoder

    words = [name for name in X if not pd.api.types.is_numeric_dtype(X[name])]
    encoder = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)
    codes = make_column_transformer((encoder, words), remainder="passthrough")
    return make_pipeline(
        codes, HistGradientBoostingClassifier(max_iter=30, class_weight="balanced", random_state=0)
    ).fit(X, y)


def _fit_hist(X, y):
    from sklearn.ensemble import HistGradientBoostingClassifier

    return HistGradientBoostingClassifier(max_iter=15, max_leaf_nodes=8, random_state=0).fit(X, y)


def _fit_tree(X, y):
    from sklearn.tree import DecisionTreeClassifier

    return DecisionTreeClassifier(max_leaf_nodes=60, random_state=0).fit(X, y)


def _fit_words(X, y):
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    return make_pipeline(CountVectorizer(), LogisticRegression(C=0.5)).fit(X, y)


REAL = ("bank", "forests", "endgames", "films")
WORLDS["bank"] = TableWorld("bank", _load("bank-marketing"), _fit_bank)
WORLDS["forests"] = TableWorld("forests", _load_forests, _fit_hist)
WORLDS["endgames"] = TableWorld("endgames", _load_endgames, _fit_tree)
WORLDS["films"] = TableWorld("films", _load("rt-polarity"), _fit_words)
