# One level after the other, as in a loop written by hand, while the machine gets slower: levels_confounded.sh > trials.csv
echo n,wall_s,started_at
trial=0
for n in 1 2 3 4 6 8; do
  for repeat in 1 2 3 4 5; do
    trial=$((trial + 1))
    started_at=$(date --utc +%FT%T.%3NZ)
    began=$(date +%s%N)
    i=0; while [ $i -lt $((100000 + 5000 * trial)) ]; do i=$((i+1)); done
    echo "$n $began $(date +%s%N) $started_at" | awk '{ printf "%d,%.4f,%s\n", $1, ($3 - $2) / 1e9, $4 }'
  done
done
