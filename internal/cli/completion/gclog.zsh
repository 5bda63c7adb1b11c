#compdef gclog
# gclog knows the words itself.
_gclog() {
  local line files none=1
  local -a list
  for line in ${(f)"$(gclog __complete "${(@)words[2,CURRENT-1]}" "$PREFIX" 2>/dev/null)"}; do
    if [[ $line == :files ]]; then
      files=1
    else
      list+=("${${line%%$'\t'*}//:/\\:}:${line#*$'\t'}")
    fi
  done
  _describe word list && none=0
  [[ -n $files ]] && { compset -P '--*='; _files } && none=0
  return none
}
# The first call may have loaded this file.
if [[ $funcstack[1] == _gclog ]]; then _gclog "$@"; else compdef _gclog gclog; fi
