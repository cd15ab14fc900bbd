"""The kernel cache on disk, shared with every other program that uses Ricci (docs/cache.md)."""
from ._ricci import cache_prune as prune
from ._ricci import cache_stats as stats


def clear():
    """Removes every stored kernel; plans that exist go on. The same as prune(all=True)."""
    return prune(all=True)


__all__ = ["clear", "prune", "stats"]
