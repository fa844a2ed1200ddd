# The launcher in a container: runs one trial apart from any stream, and tells of it as often as it is asked.
#
#   SHELL launch ACTION FOLDER SHELL TOOLS ...
#
#   FOLDER  where Deadzone writes in this container
#   SHELL   what runs this file: /bin/sh, or two words such as /deadzone/busybox sh
#   TOOLS   folder of further programs for this file (not for the trial's), or -
#
#   probe                   what this container has, its limit and the node's cores
#   count                   its accounting now: CPU, throttling, memory, and what it read and wrote
#   run ID TIMEOUT PERIOD CWD N NAME=VALUE*N ARGV...
#                           start trial ID, wait for its end, tell of it; TIMEOUT in hundredths of a second
#   await ID                wait for the end of a trial that was started, tell of it
#   stop                    kill what trials left running
#
# POSIX shell and builtins only where the clock runs; every value arrives as a positional parameter and is
# never read as shell. A trial's folder is made once, so that no trial ever runs twice, however often it is
# asked for. Exit codes: 0 told; 90 not started, and never will be; 91 cannot write; 92 the launcher of the trial
# has died. Variables begin with dz_, for a name that the container exports would reach the program changed.

dz_action=$1
dz_home=$2
dz_shell=$3
dz_tools=$4
shift 4
dz_here=$dz_home/trials
dz_program_path=$PATH
if [ "$dz_tools" != - ]; then PATH=$dz_tools:$PATH; fi

# --- the clock and the counters -------------------------------------------------------------------------

clock() { # uptime: to 10 ms, never steps; fine: finer where the shell or `date` has it, but steps
  read -r dz_uptime _ </proc/uptime
  dz_fine=${EPOCHREALTIME:-}
  if [ -z "$dz_fine" ] && [ -n "$dz_date_ns" ]; then dz_fine=$(date +%s.%N); fi
  dz_fine=${dz_fine:-0}
}

find_group() { # where this container's accounting lies: $dz_v 1 or 2
  dz_v=0
  if [ -r /sys/fs/cgroup/cgroup.controllers ] || [ -r /sys/fs/cgroup/cpu.stat ]; then
    dz_v=2
    dz_base=/sys/fs/cgroup
    while IFS=: read -r dz_number _ dz_path; do
      if [ "$dz_number" = 0 ] && [ -r "/sys/fs/cgroup$dz_path/cpu.stat" ]; then dz_base=/sys/fs/cgroup$dz_path; fi
    done </proc/self/cgroup
  else
    for dz_folder in cpu cpu,cpuacct cpuacct,cpu; do
      if [ -r "/sys/fs/cgroup/$dz_folder/cpu.stat" ]; then dz_v=1; dz_cpu=/sys/fs/cgroup/$dz_folder; break; fi
    done
    for dz_folder in cpuacct cpu,cpuacct cpuacct,cpu; do
      if [ -r "/sys/fs/cgroup/$dz_folder/cpuacct.usage" ]; then dz_acct=/sys/fs/cgroup/$dz_folder; break; fi
    done
  fi
}

tell() { # tell PREFIX FILE: its `key value` lines
  [ -r "$2" ] || return 0
  while read -r dz_key dz_value; do echo "$1 $dz_key $dz_value"; done <"$2"
}

number() { # number PREFIX FILE: its one number, or line
  [ -r "$2" ] || return 0
  read -r dz_value <"$2" && echo "$1 $dz_value"
}

limit() {
  dz_quota='' dz_span=''
  if [ "$dz_v" = 2 ] && [ -r "$dz_base/cpu.max" ]; then
    read -r dz_quota dz_span <"$dz_base/cpu.max"
  elif [ "$dz_v" = 1 ]; then
    read -r dz_quota <"$dz_cpu/cpu.cfs_quota_us"
    read -r dz_span <"$dz_cpu/cpu.cfs_period_us"
  fi
  if [ -n "$dz_quota" ]; then echo "cpu_max $dz_quota $dz_span"; fi
}

memory_limit() {
  if [ "$dz_v" = 2 ]; then
    number memory_max "$dz_base/memory.max"
  elif [ "$dz_v" = 1 ]; then
    number memory_max /sys/fs/cgroup/memory/memory.limit_in_bytes
  fi
}

counters() {
  if [ "$dz_v" = 2 ]; then
    tell stat "$dz_base/cpu.stat"
    tell memory "$dz_base/memory.events"
    number memory_pressure "$dz_base/memory.pressure" 2>/dev/null
  elif [ "$dz_v" = 1 ]; then
    tell stat "$dz_cpu/cpu.stat"
    number usage_ns "$dz_acct/cpuacct.usage"
    number user_ns "$dz_acct/cpuacct.usage_user"
    number sys_ns "$dz_acct/cpuacct.usage_sys"
    tell memory /sys/fs/cgroup/memory/memory.oom_control
  fi
}

holdings() { # memory, and what went to and from disks
  if [ "$dz_v" = 2 ]; then
    number memory_bytes "$dz_base/memory.current"
    number memory_peak_bytes "$dz_base/memory.peak"
    tell memory_stat "$dz_base/memory.stat"
    tell io_stat "$dz_base/io.stat"
    number io_pressure "$dz_base/io.pressure" 2>/dev/null
  elif [ "$dz_v" = 1 ]; then
    number memory_bytes /sys/fs/cgroup/memory/memory.usage_in_bytes
    number memory_peak_bytes /sys/fs/cgroup/memory/memory.max_usage_in_bytes
    tell memory_stat /sys/fs/cgroup/memory/memory.stat
    tell io_stat /sys/fs/cgroup/blkio/blkio.throttle.io_service_bytes
  fi
}

machine() {
  read -r dz_line </proc/stat && echo "machine $dz_line"
  for dz_what in memory io; do
    if [ -r /proc/pressure/$dz_what ]; then
      { read -r dz_line </proc/pressure/$dz_what; } 2>/dev/null && echo "pressure $dz_what ${dz_line##*total=}"
    fi
  done
}

time_now() {
  clock
  echo "uptime $dz_uptime"
  echo "fine $dz_fine"
}

totals() {
  limit
  counters
  machine
}

look_for_clock() {
  dz_date_ns=
  case $(date +%N 2>/dev/null) in *[!0-9]* | '') ;; *) dz_date_ns=1 ;; esac
}

# --- processes -------------------------------------------------------------------------------------------

in_session() { # in_session NUMBER: the processes of a session, in $dz_members
  dz_members=
  for dz_stat in /proc/[0-9]*/stat; do
    { read -r dz_line <"$dz_stat"; } 2>/dev/null || continue
    dz_who=${dz_line%% *}
    # After the name in parentheses: state, parent, group, session.
    set -- "$1" ${dz_line##*) }
    case $2 in Z | X) continue ;; esac
    if [ "$5" = "$1" ]; then dz_members="$dz_members $dz_who"; fi
  done
}

end_session() { # kill a session until no process is left; $dz_ended counts them
  dz_ended=0
  for dz_round in 1 2 3 4 5; do
    in_session "$1"
    [ -n "$dz_members" ] || return 0
    for dz_who in $dz_members; do
      kill -KILL "$dz_who" 2>/dev/null || continue
      # One that was killed a moment ago may be seen again.
      if [ "$dz_round" = 1 ]; then dz_ended=$((dz_ended + 1)); fi
    done
  done
}

remember() { # remember PID NAME: a process by its number and start time, for numbers are used again
  { read -r dz_line <"/proc/$1/stat"; } 2>/dev/null || return 0
  born ${dz_line##*) }
  echo "$1 $dz_born" >"$dz_mine/$2"
}

born() { # born FIELDS...: those of /proc/PID/stat from the third on; the start time is the 22nd, ticks of waits for disks the 42nd
  dz_born=${20}
  dz_state=$1
  dz_blocked=${40:-0}
}

is_still() { # is_still FILE: whether the process that a file remembers runs; its number in $dz_who
  { read -r dz_who dz_when <"$1"; } 2>/dev/null || return 1
  { read -r dz_line <"/proc/$dz_who/stat"; } 2>/dev/null || return 1
  born ${dz_line##*) }
  case $dz_state in Z | X) return 1 ;; esac
  [ "$dz_born" = "$dz_when" ]
}

# --- one trial -------------------------------------------------------------------------------------------

hundredths() { # hundredths TEXT: an uptime as a whole number, in $dz_whole
  dz_whole=${1%.*}${1#*.}
}

# What the launcher starts in the background, its sleeps too, is also waited for: a container's first process may reap no child.
nap() { # nap SECONDS: a sleep that is ended with its process, once that has said `naps`
  sleep "$1" 2>/dev/null &
  wait $! && return 0
  sleep 1 &
  wait $!
}

naps() { # from now on a TERM to this process ends its sleep as well; `$!` is set as soon as that is there, a variable is later
  dz_inherited=$!
  trap end_nap TERM
}

end_nap() {
  if [ "$!" != "$dz_inherited" ]; then
    kill $! 2>/dev/null
    wait $! 2>/dev/null
  fi
  exit 0
}

sampler() { # sampler PID TIMEOUT PERIOD: the time series, the peak memory, and the end of a trial that takes too long
  read -r dz_uptime _ </proc/uptime
  hundredths "$dz_uptime"
  dz_began=$dz_whole
  naps
  dz_pause=0.2 # the first reading comes soon, for the memory of short trials
  while nap "$dz_pause"; do
    dz_pause=$3
    if [ -e "$dz_mine/ended" ]; then return 0; fi
    read -r dz_uptime _ </proc/uptime
    {
      echo "sample $dz_uptime"
      counters
    } >>"$dz_mine/telemetry"
    while read -r dz_key dz_value _; do
      if [ "$dz_key" = VmHWM: ]; then echo "$dz_value" >"$dz_mine/peak"; fi
    done 2>/dev/null <"/proc/$1/status"
    hundredths "$dz_uptime"
    if [ $((dz_whole - dz_began)) -ge "$2" ]; then
      echo timed_out >"$dz_mine/timed_out"
      kill -KILL "$1" 2>/dev/null
      end_session "$1"
      return 0
    fi
  done
}

look() { # look PID...: a line a thread of processes and of all they started: when, process, thread, its state, when it was
  # born, how long it ran and was ready [ns], ticks of its waits for disks, and in which call or function it waits
  while [ $# -gt 0 ]; do
    dz_children=
    for dz_who in "$@"; do
      for dz_task in /proc/"$dz_who"/task/[0-9]*; do
        { read -r dz_line <"$dz_task/stat" && read -r dz_ran dz_ready _ <"$dz_task/schedstat"; } 2>/dev/null || continue
        born ${dz_line##*) }
        dz_where='' dz_more=''
        case $dz_state in
        D) { read -r dz_where _ <"$dz_task/syscall"; } 2>/dev/null ;;
        S) { read -r dz_where <"$dz_task/wchan"; } 2>/dev/null ;;
        esac
        { read -r dz_more <"$dz_task/children"; } 2>/dev/null
        dz_children="$dz_children $dz_more"
        echo "$dz_uptime $dz_who ${dz_task##*/} $dz_state $dz_born $dz_ran $dz_ready $dz_blocked ${dz_where:-0}"
      done
    done
    # shellcheck disable=SC2086 # numbers
    set -- $dz_children
  done
}

looker() { # looker PID: looks at the threads of a trial, as often as a hundredth of its cores, or of its limit, pays for
  read -r dz_began _ </proc/uptime
  hundredths "$dz_began"
  dz_began=$dz_whole dz_pause=0.05
  naps
  read -r dz_last _ </proc/self/schedstat || return 0
  while nap "$dz_pause"; do
    if [ -e "$dz_mine/ended" ] || [ ! -d "/proc/$1" ]; then return 0; fi
    read -r dz_uptime _ </proc/uptime
    look "$1" >>"$dz_mine/threads"
    dz_first=$dz_last
    read -r dz_last _ </proc/self/schedstat
    # The sleep itself takes up to two milliseconds more. A hundred times all that, in hundredths of a second.
    dz_whole=$(((dz_last - dz_first + 2000000) / 100000))
    case $dz_quota in *[!0-9]* | '') ;; *)
      if [ "$dz_quota" -lt "$dz_span" ]; then dz_whole=$((dz_whole * dz_span / dz_quota)); fi ;;
    esac
    dz_least=$dz_whole
    hundredths "$dz_uptime"
    # A long trial is looked at some thousand times at most.
    dz_pause=$(((dz_whole - dz_began) / 300))
    if [ "$dz_pause" -lt "$dz_least" ]; then dz_pause=$dz_least; fi
    dz_whole=$((100 + dz_pause % 100))
    dz_pause=$((dz_pause / 100)).${dz_whole#1}
  done
}

core() { # core ID TIMEOUT PERIOD CWD N NAME=VALUE*N ARGV...: in a session of its own
  trap '' HUP
  dz_mine=$dz_here/$1
  dz_timeout=$2 dz_period=$3 dz_cwd=$4 dz_extra=$5
  shift 5
  remember $$ launcher
  # Whoever makes this folder first decides: the start, or the sweep that bars it because it took too long.
  mkdir "$dz_mine/started" || return 90
  PATH=$dz_program_path
  while [ "$dz_extra" -gt 0 ]; do
    export "$1"
    shift
    dz_extra=$((dz_extra - 1))
  done
  dz_program_path=$PATH
  if [ "$dz_tools" != - ]; then PATH=$dz_tools:$PATH; fi
  find_group
  look_for_clock
  if [ -n "$dz_cwd" ] && ! cd "$dz_cwd" 2>/dev/null; then
    echo "failed there is no folder $dz_cwd in this container" >"$dz_mine/result.part"
  elif ! (PATH=$dz_program_path && command -v "$1" >/dev/null 2>&1); then
    echo "failed there is no program $1 in this container" >"$dz_mine/result.part"
  else
    dz_detach=$(command -v setsid 2>/dev/null)
    {
      totals
      time_now
    } >"$dz_mine/before"
    # shellcheck disable=SC2086 # empty, or one word
    PATH=$dz_program_path $dz_detach "$@" </dev/null >"$dz_mine/stdout" 2>"$dz_mine/stderr" &
    dz_program=$!
    remember "$dz_program" program
    sampler "$dz_program" "$dz_timeout" "$dz_period" </dev/null >/dev/null 2>&1 &
    dz_watcher=$!
    looker "$dz_program" </dev/null >/dev/null 2>&1 &
    dz_looker=$!
    wait "$dz_program"
    dz_code=$?
    {
      time_now
      totals
    } >"$dz_mine/after"
    : >"$dz_mine/ended"
    kill "$dz_watcher" "$dz_looker" 2>/dev/null
    wait "$dz_watcher" "$dz_looker" 2>/dev/null
    dz_ended=0
    if [ -n "$dz_detach" ]; then end_session "$dz_program"; fi
    echo "code $dz_code $dz_ended" >"$dz_mine/result.part"
  fi
  # One that is stopped has no result, nor has one that a full disk keeps from being written.
  [ -e "$dz_mine/stopped" ] || [ ! -s "$dz_mine/result.part" ] || mv "$dz_mine/result.part" "$dz_mine/result"
  # Whoever waits holds the pipe open, so that this neither blocks nor is lost.
  # There may be several: those of streams that were cut wait on. Each takes one line.
  if [ -p "$dz_mine/end" ]; then
    {
      for dz_tool in 1 2 3 4 5 6 7 8; do
        printf 'x\nx\nx\nx\nx\nx\nx\nx\n'
      done
    } 1<>"$dz_mine/end"
  fi
}

print_trial() {
  dz_mine=$dz_here/$1
  for dz_name in result timed_out peak; do number "$dz_name" "$dz_mine/$dz_name"; done
  for dz_name in before after telemetry threads; do
    [ -r "$dz_mine/$dz_name" ] || continue
    while IFS= read -r dz_line; do echo "$dz_name $dz_line"; done <"$dz_mine/$dz_name"
  done
  for dz_name in stdout stderr; do
    [ -r "$dz_mine/$dz_name" ] || continue
    tail -c 500000 "$dz_mine/$dz_name" >"$dz_mine/$dz_name.tail"
    while IFS= read -r dz_line || [ -n "$dz_line" ]; do
      printf '%s\n' "$dz_name $dz_line"
    done <"$dz_mine/$dz_name.tail"
  done
  echo "told"
}

wait_for() { # wait_for ID: until its result is there; 92 if whoever measures it is gone
  dz_mine=$dz_here/$1
  while [ ! -e "$dz_mine/result" ]; do
    if [ -p "$dz_mine/end" ]; then
      # Open first, look then: what is written between the two stays in the pipe.
      exec 3<>"$dz_mine/end"
      if [ ! -e "$dz_mine/result" ] && is_still "$dz_mine/launcher"; then read -r _ <&3; fi
      exec 3>&-
    else
      sleep 1 || return 91
    fi
    if [ ! -e "$dz_mine/result" ] && ! is_still "$dz_mine/launcher"; then
      [ -e "$dz_mine/result" ] || return 92
    fi
  done
}

case $dz_action in
core)
  core "$@"
  ;;
run)
  mkdir -p "$dz_here" || exit 91
  if mkdir "$dz_here/$1" 2>/dev/null; then
    command -v mkfifo >/dev/null 2>&1 && mkfifo "$dz_here/$1/end"
    dz_detach=$(command -v setsid 2>/dev/null)
    # shellcheck disable=SC2086 # the shell may be two words
    PATH=$dz_program_path $dz_detach $dz_shell "$dz_home/launch" core "$dz_home" "$dz_shell" "$dz_tools" "$@" \
      </dev/null >/dev/null 2>&1 &
    # The parent stays: it reaps the launcher, so that no zombie is left to a container that reaps none.
    wait $!
  elif [ ! -e "$dz_here/$1/started" ]; then
    sleep 2 # whoever was asked first is about to start it
  fi
  wait_for "$1" || exit $?
  print_trial "$1"
  ;;
await)
  [ -d "$dz_here" ] || exit 90
  # Made here, the folder bars a start that is still on its way.
  if mkdir "$dz_here/$1" 2>/dev/null; then exit 90; fi
  if [ ! -e "$dz_here/$1/started" ]; then sleep 2; fi
  if mkdir "$dz_here/$1/started" 2>/dev/null; then exit 90; fi
  wait_for "$1" || exit $?
  print_trial "$1"
  ;;
stop)
  for dz_mine in "$dz_here"/*; do
    [ -d "$dz_mine" ] || continue
    echo >"$dz_mine/stopped"
    # The program first: then its launcher reaps what it started, and ends. A container may reap no orphan of one that is killed.
    # A launcher that was about to start its program is ended before the second look at the program.
    for dz_name in program launcher program; do
      for dz_round in 1 2 3 4 5 6 7 8 9 10; do
        if [ "$dz_name" = program ] || ! is_still "$dz_mine/launcher"; then break; fi
        nap 0.2
      done
      if is_still "$dz_mine/$dz_name"; then
        dz_leader=$dz_who
        kill -KILL "$dz_leader" 2>/dev/null
        end_session "$dz_leader"
      fi
    done
  done
  exit 0
  ;;
count)
  find_group
  counters
  holdings
  echo "told"
  ;;
probe)
  find_group
  look_for_clock
  echo "cgroup $dz_v"
  limit
  memory_limit
  dz_cores=0
  while read -r dz_name _; do
    case $dz_name in cpu[0-9]*) dz_cores=$((dz_cores + 1)) ;; esac
  done </proc/stat
  echo "cores $dz_cores"
  echo "fine_clock ${dz_date_ns:-${EPOCHREALTIME:+1}}"
  mkdir -p "$dz_here" 2>/dev/null && echo "writable 1"
  echo "told"
  ;;
esac
