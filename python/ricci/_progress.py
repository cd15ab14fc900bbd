"""A bar for long calls: tqdm's where it is installed, else a line of stderr where that is a terminal."""
import sys
import time

_QUIET_S = 0.5  # a call that is over by then shows nothing


class Bar:
    """Told the share that is done, 0 to 1, on any thread, by one at a time."""

    def __init__(self):
        self._begun = time.monotonic()
        self._bar = None

    def __call__(self, share):
        if self._bar is None:
            if share >= 1 or time.monotonic() - self._begun < _QUIET_S:
                return
            self._bar = _tqdm() or _Line()
        self._bar.n = round(100 * share, 1)
        self._bar.refresh()
        if share >= 1:
            self._bar.close()

    def __del__(self):
        if self._bar is not None:
            self._bar.close()


def _tqdm():
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return None
    return tqdm(total=100, unit="%", bar_format="{l_bar}{bar}| {elapsed}<{remaining}")


class _Line:
    n = 0

    def refresh(self):
        if sys.stderr.isatty():
            print(f"\r{self.n:5.1f} %", end="", file=sys.stderr, flush=True)

    def close(self):
        if sys.stderr.isatty() and self.n > 0:
            print("\r\033[K", end="", file=sys.stderr, flush=True)
        self.n = 0
