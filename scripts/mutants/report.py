"""Figures of the sample: shares with their 95 % intervals, and the survivors."""

import math

import judging
import listing

Z = 1.959964
# The targets of the modules of listing.CORE together.
HARNESS_TARGET, TARGET = 0.70, 0.95
HEADER = (
    "| module | mutants | viable, judged | caught by the harness | then by unit tests | survived "
    "| share of the harness | share of both |\n|---|---:|---:|---:|---:|---:|---:|---:|"
)


def wilson(share, count):
    """Returns the 95 % interval of a share that was observed in `count` trials."""
    if count == 0:
        return 0.0, 1.0
    centre = (share + Z * Z / (2 * count)) / (1 + Z * Z / count)
    half = Z / (1 + Z * Z / count) * math.sqrt(share * (1 - share) / count + Z * Z / (4 * count * count))
    return max(0.0, centre - half), min(1.0, centre + half)


class Row:
    """The counts of one module."""

    def __init__(self, module, size, results):
        self.module, self.size, self.count = module, size, len(results)
        self.harness = sum(result["judge"] == judging.HARNESS for result in results)
        self.unit = sum(result["judge"] == judging.UNIT for result in results)

    def text(self, by_harness, by_both):
        survived = self.count - self.harness - self.unit
        counts = (self.module, self.size, self.count, self.harness, self.unit, survived)
        return "| " + " | ".join(map(str, (*counts, shown(*by_harness), shown(*by_both)))) + " |"

    def shares(self):
        count = max(self.count, 1)
        return self.harness / count, (self.harness + self.unit) / count


def shown(share, count):
    low, high = wilson(share, count)
    return f"{share:.0%} ({low:.0%} to {high:.0%})".replace("%", " %") if count else "-"


def total(rows, which):
    """Returns the share of all modules, each weighted by its number of mutants, and the size of a simple sample that would
    have the same variance."""
    rows = [row for row in rows if row.count]
    size = sum(row.size for row in rows)
    shares = [(row.size / size, row.shares()[which], row.count) for row in rows]
    share = sum(weight * of_row for weight, of_row, _ in shares)
    variance = sum(weight**2 * of_row * (1 - of_row) / count for weight, of_row, count in shares)
    count = sum(count for *_, count in shares)
    return share, (share * (1 - share) / variance if variance else count)


class Report:
    """The figures of what was judged."""

    def __init__(self, strata, results):
        by_module = {}
        for result in results:
            by_module.setdefault(result["module"], []).append(result)
        rows = [Row(stratum.module, len(stratum.mutants), by_module.get(stratum.module, [])) for stratum in strata]
        self.core = [row for row in rows if row.module in listing.CORE]
        self.others = [row for row in rows if row.module not in listing.CORE]
        self.survivors = [result for result in results if result["judge"] is None]
        self.only_unit = [result for result in results if result["judge"] == judging.UNIT]

    def is_good(self):
        if not any(row.count for row in self.core):
            return not self.survivors
        return total(self.core, 0)[0] >= HARNESS_TARGET and total(self.core, 1)[0] >= TARGET

    def text(self):
        lines = [HEADER]
        for rows, name in ((self.core, "**these ten**"), (self.others, "**the others**")):
            judged = [row for row in rows if row.count]
            if rows is self.core:
                lines += [row.text(*((share, row.count) for share in row.shares())) for row in judged]
            if judged:
                summed = Row(name, sum(row.size for row in rows), [])
                for row in judged:
                    summed.count += row.count
                    summed.harness += row.harness
                    summed.unit += row.unit
                lines.append(summed.text(total(judged, 0), total(judged, 1)))
        for results, title in (
            (self.survivors, "Survivors"),
            (self.only_unit, "Caught by unit tests alone"),
        ):
            lines += ["", f"{title}: {len(results)}"]
            for result in sorted(results, key=lambda result: result["name"]):
                reach = "" if result["harness_reaches"] else " (the harness does not reach it)"
                by = f"; {result['by']}" if result["by"] else ""
                lines.append(f"  {result['name']}{reach}{by}")
        return "\n".join(lines)
