# Completion of agentmux for bash 3.2 and later. Made by: agentmux completion bash
_agentmux() {
  local answer line word
  COMPREPLY=()
  answer=$(agentmux _complete --line "${COMP_LINE:0:COMP_POINT}" 2>/dev/null) || return 0
  word=${COMP_WORDS[COMP_CWORD]}
  case $answer in
    :file | :dir)
      [ "$word" != "=" ] || word=
      local only=-f
      [ "$answer" = :file ] || only=-d
      compopt -o filenames 2>/dev/null
      while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen "$only" -- "$word")
      return 0
      ;;
  esac
  # bash splits words at the characters of COMP_WORDBREAKS, and replaces only the last part.
  local typed=${COMP_LINE:0:COMP_POINT} before=
  typed=${typed##*[[:space:]]}
  case $COMP_WORDBREAKS in *=*) case $typed in *=*) before=${typed%=*}= ;; esac ;; esac
  case $COMP_WORDBREAKS in *:*) case ${typed#"$before"} in *:*) before=${typed%:*}: ;; esac ;; esac
  while IFS= read -r line; do
    [ -n "$line" ] || continue
    line=${line%%$'\t'*}
    COMPREPLY+=("${line#"$before"}")
  done <<<"$answer"
  compopt -o nosort 2>/dev/null
  case ${COMPREPLY[0]} in *=) compopt -o nospace 2>/dev/null ;; esac
  return 0
}
complete -F _agentmux agentmux
