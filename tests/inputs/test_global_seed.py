"""The global generators are borrowed, and given back as they were."""

import random
import threading

import numpy as np

from faithkit.plugin import seed_global_generators


def test_the_generators_are_left_as_they_were_even_after_an_error():
    np.random.seed(1)
    random.seed(1)
    expected = np.random.random(), random.random()
    np.random.seed(1)
    random.seed(1)
    try:
        with seed_global_generators(5):
            np.random.random(10)
            random.random()
            raise ValueError
    except ValueError:
        pass
    assert (np.random.random(), random.random()) == expected


def test_threads_take_turns():
    drawn = {}

    def draw(seed):
        with seed_global_generators(seed):
            drawn[seed] = [np.random.random() for _ in range(2000)]

    threads = [threading.Thread(target=draw, args=(seed,)) for seed in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for seed in range(6):
        assert drawn[seed] == np.random.RandomState(seed).random_sample(2000).tolist()
