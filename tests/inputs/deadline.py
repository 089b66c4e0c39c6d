"""Work that must not wait for ever."""

import threading


def promptly(work):
    """Return what the work returns or raises; fail where it waits."""
    outcome = []

    def attempt():
        try:
            outcome.append(work())
        except BaseException as error:
            outcome.append(error)

    thread = threading.Thread(target=attempt, daemon=True)
    thread.start()
    thread.join(60)
    assert outcome, "it hangs"
    if isinstance(outcome[0], BaseException):
        raise outcome[0]
    return outcome[0]
