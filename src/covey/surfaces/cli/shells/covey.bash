# Completion of covey for bash: eval "$(covey completion bash)"
_covey() {
    local words=("${COMP_WORDS[@]:1:COMP_CWORD}") line
    COMPREPLY=()
    while IFS= read -r line; do
        if [[ $line == :files ]]; then
            compopt -o filenames 2>/dev/null
            mapfile -t COMPREPLY < <(compgen -f -- "${COMP_WORDS[COMP_CWORD]}")
        else
            COMPREPLY+=("${line%%$'\t'*}")
        fi
    done < <("$1" completion words "${words[@]/#/--word=:}" 2>/dev/null)
}
complete -F _covey covey
