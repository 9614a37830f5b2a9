# Completion of agentmux for fish. Made by: agentmux completion fish
function __agentmux_complete
    set -l word (commandline -ct)
    set -l before (commandline -opc)
    set -l lines (agentmux _complete -- $before[2..-1] $word 2>/dev/null)
    switch "$lines[1]"
        case :file :dir
            set -l path (string replace -r '^--[^=]*=' '' -- $word)
            set -l option (string match -r '^--[^=]*=' -- $word)
            if test "$lines[1]" = :dir
                __fish_complete_directories $path '' | string replace -r -- '^' "$option"
            else
                __fish_complete_path $path | string replace -r -- '^' "$option"
            end
        case '*'
            string join \n -- $lines
    end
end
complete -c agentmux -f -k -a '(__agentmux_complete)'
