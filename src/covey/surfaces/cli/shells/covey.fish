# Completion of covey for fish: covey completion fish | source
function __covey_words
    set -l before (commandline -opc)
    set -l current (commandline -ct)
    set -l program $before[1]
    set -e before[1]
    set -l found ($program completion words --word=:$before --word=:"$current" 2>/dev/null)
    if test "$found[1]" = :files
        __fish_complete_path $current
    else if test (count $found) -gt 0
        printf '%s\n' $found
    end
end
complete -c covey -f -a '(__covey_words)'
