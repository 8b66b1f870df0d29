# Completion of covey for zsh, after compinit: eval "$(covey completion zsh)"
_covey() {
    local line
    local -a found
    while IFS= read -r line; do
        if [[ $line == :files ]]; then
            _files
            return
        fi
        found+=("${${line%%$'\t'*}//:/\\:}:${line#*$'\t'}")
    done < <("$words[1]" completion words "${(@)words[2,CURRENT]/#/--word=:}" 2>/dev/null)
    _describe covey found
}
compdef _covey covey
