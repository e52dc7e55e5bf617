/** Completion scripts by shell; all of them call `berth complete`. */
export const scripts: Readonly<Record<string, string>> = {
  bash: `# berth: completion for bash
_berth() {
  local IFS=$'\\n'
  COMPREPLY=($(berth complete "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
}
complete -o default -F _berth berth`,
  zsh: `#compdef berth
# berth: completion for zsh
_berth() {
  local -a found
  found=("\${(@f)$(berth complete "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  found=(\${found:#})
  if (( $#found )); then compadd -- $found; else _files; fi
}
if [ "$funcstack[1]" = _berth ]; then _berth "$@"; else compdef _berth berth; fi`,
  fish: `# berth: completion for fish
function __berth_complete
  set -l words (commandline -opc)
  set -l current (commandline -ct)
  set -l found (berth complete $words[2..-1] "$current" 2>/dev/null)
  if set -q found[1]
    printf '%s\\n' $found
  else
    __fish_complete_path "$current"
  end
end
complete -c berth -f -a '(__berth_complete)'`
}
