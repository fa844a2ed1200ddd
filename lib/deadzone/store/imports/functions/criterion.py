"""criterion: the text that `cargo bench` prints, one row a benchmark."""

from deadzone.store.imports.text_format import TextFormat

read_criterion = TextFormat(
    tool="criterion",
    version="0.5",
    write="cargo bench > FILE",
    begins=(r"^\S.*\btime:\s+\[\d|^\S.*\n\s*time:\s+\[\d|^test .* \.\.\. bench:",),
    needs=("time_per_call_s",),
    labels={"benchmark": r"^(\S.*?)\s+time:\s+\[\d|^test (.*) \.\.\. bench:"},
    figures={
        "time_per_call_s": r"(?:time:\s+\[\d\S* \S+ |bench:\s+)([\d.,]+) ([^\s/]+)",
        "time_per_call_low_s": r"time:\s+\[(\d\S*) (\S+) ",
        "time_per_call_high_s": r"time:\s+\[\d\S* \S+ \S+ \S+ (\S+) ([^\]\s]+)\]",
        "achieved_rate": r"thrpt:\s+\[\d\S* \S+ (\S+) (\w*elem/s) ",
        "throughput_bytes_s": r"thrpt:\s+\[\d\S* \S+ (\S+) ([KMGT]?i?B)/s ",
    },
    traps=(
        "criterion prints five digits and the interval of an estimate; single samples are in "
        "target/criterion.",
    ),
)
