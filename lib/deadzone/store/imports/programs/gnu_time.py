"""GNU time: `/usr/bin/time -v`, one row a command."""

from deadzone.store.imports.text_format import TextFormat

read_gnu_time = TextFormat(
    tool="gnu-time",
    version="1.9",
    write="/usr/bin/time -v -o FILE",
    begins=(r"^Command being timed:",),
    needs=("wall_s", "user_s"),
    labels={},
    figures={
        "wall_s": r"Elapsed \(wall clock\) time .*: ([\d:.]+)",
        "user_s": r"User time \(seconds\): ([\d.,]+)",
        "sys_s": r"System time \(seconds\): ([\d.,]+)",
        "max_rss_bytes": r"Maximum resident set size \(kbytes\): ([\d.,]+)",
        "page_faults": r"Major .* page faults: (\d+)",
        "exit_code": r"Exit status: (\d+)",
    },
    units={"max_rss_bytes": "kbytes"},
    traps=("GNU time rounds times to 0.01 s.",),
)
