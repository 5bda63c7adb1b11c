# bash completion of gclog, which knows the words itself
_gclog() {
  local word about cur=${COMP_WORDS[COMP_CWORD]#[=:]}
  COMPREPLY=()
  while IFS=$'\t' read -r word about; do
    if [[ $word == :files ]]; then
      while IFS= read -r word; do COMPREPLY+=("$word"); done < <(compgen -f -- "$cur")
      compopt -o filenames 2>/dev/null
    elif [[ $word == "$cur"* ]]; then
      COMPREPLY+=("$word")
    fi
  done < <(gclog __complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -o default -F _gclog gclog
