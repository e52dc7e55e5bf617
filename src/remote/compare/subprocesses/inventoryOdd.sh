# shellcheck shell=sh
# Subprocess of inventory.sh for names that need a process each.
for name do
  printf "s %s %s\0" "$(stat -c %s "$name")" "$name"
  hash=$(sha256sum <"$name") && printf "%s  %s\0" "${hash%% *}" "$name"
done
