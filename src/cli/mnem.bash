# Bash ends words at ':', '=' and '@', expands what is offered, and leaves quoting to the completer. Ids may hold such
# characters, white space and quotes. So the words are read anew from the line, and what is offered is quoted.
_mnem() {
    local -; set -f
    local line=${COMP_LINE:0:COMP_POINT} words=() word='' raw='' begun='' quote='' escaped='' marks=(0) i c
    for ((i = 0; i < ${#line}; i++)); do
        c=${line:i:1}
        if [[ ! $escaped$quote && $c == [[:space:]] ]]; then
            [[ $begun ]] && words+=("$word")
            word='' raw='' begun='' marks=(0)
            continue
        fi
        begun=1 raw+=$c
        if [[ $escaped ]]; then
            word+=$c escaped=''
        elif [[ $c == \\ && $quote != \' ]]; then
            escaped=1
        elif [[ $quote ]]; then
            if [[ $c == "$quote" ]]; then quote=''; else word+=$c; fi
        elif [[ $c == [\'\"] ]]; then
            quote=$c
        else
            word+=$c
        fi
        marks[${#raw}]=${#word}
    done
    # Only the end of the word is replaced: what comes before it stays as it was typed.
    local kept=${word:0:${marks[${#raw} - ${#2}]:-0}} reply=() value
    local COMP_WORDS=("${words[@]}" "$word") COMP_CWORD=${#words[@]}
    _clap_complete_mnem "$1" "$word" "$3"
    for value in "${COMPREPLY[@]}"; do
        [[ $value == "$kept"* ]] || continue
        value=${value:${#kept}}
        [[ $quote || ! $value ]] || printf -v value %q "$value"
        reply+=("$value")
    done
    COMPREPLY=("${reply[@]}")
}
complete -o nospace -o bashdefault -o nosort -F _mnem mnem
