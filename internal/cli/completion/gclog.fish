# fish completion of gclog, which knows the words itself
function __gclog_complete
    set -l words (commandline -opc)
    set -e words[1]
    set -l word (commandline -ct)
    for line in (gclog __complete $words "$word" 2>/dev/null)
        if test "$line" = :files
            set -l flag (string match -r -- '^--[^=]+=' "$word")
            __fish_complete_path (string replace -- "$flag" '' "$word") | string replace -r -- '^' "$flag"
        else
            echo $line
        end
    end
end
complete -c gclog -f -a '(__gclog_complete)'
