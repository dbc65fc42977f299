# Print an optspec for argparse to handle cmd's options that are independent of any subcommand.
function __fish_oz0_global_optspecs
    string join \n q/quiet color= cache= h/help V/version
end

function __fish_oz0_needs_command
    # Figure out if the current invocation already has a command.
    set -l cmd (commandline -opc)
    set -e cmd[1]
    argparse -s (__fish_oz0_global_optspecs) -- $cmd 2>/dev/null
    or return
    if set -q argv[1]
        # Also print the command, so this can be used to figure out what it is.
        echo $argv[1]
        return 1
    end
    return 0
end

function __fish_oz0_using_subcommand
    set -l cmd (__fish_oz0_needs_command)
    test -z "$cmd"
    and return 1
    contains -- $cmd[1] $argv
end

complete -c oz0 -n "__fish_oz0_needs_command" -l color -d 'When to colour what is printed [variable: `OZ0_COLOR`] [default: auto]' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c oz0 -n "__fish_oz0_needs_command" -l cache -d 'Where locked environments are kept [variable: `OZ0_CACHE`] [default: ~/.cache/oz0]' -r -f -a "(__fish_complete_directories)"
complete -c oz0 -n "__fish_oz0_needs_command" -s q -l quiet -d 'Say only what went wrong, and the result'
complete -c oz0 -n "__fish_oz0_needs_command" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c oz0 -n "__fish_oz0_needs_command" -s V -l version -d 'Print version'
complete -c oz0 -n "__fish_oz0_needs_command" -f -a "plugin" -d 'Measure and look at plugins'
complete -c oz0 -n "__fish_oz0_needs_command" -f -a "completions" -d 'Print the completions of a shell'
complete -c oz0 -n "__fish_oz0_needs_command" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and not __fish_seen_subcommand_from test inspect schema help" -l color -d 'When to colour what is printed [variable: `OZ0_COLOR`] [default: auto]' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and not __fish_seen_subcommand_from test inspect schema help" -l cache -d 'Where locked environments are kept [variable: `OZ0_CACHE`] [default: ~/.cache/oz0]' -r -f -a "(__fish_complete_directories)"
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and not __fish_seen_subcommand_from test inspect schema help" -s q -l quiet -d 'Say only what went wrong, and the result'
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and not __fish_seen_subcommand_from test inspect schema help" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and not __fish_seen_subcommand_from test inspect schema help" -s V -l version -d 'Print version'
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and not __fish_seen_subcommand_from test inspect schema help" -f -a "test" -d 'Start a plugin\'s servers, and write what they list into tools.listing.json'
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and not __fish_seen_subcommand_from test inspect schema help" -f -a "inspect" -d 'Show a plugin and its measured listing; runs nothing of it'
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and not __fish_seen_subcommand_from test inspect schema help" -f -a "schema" -d 'Print the JSON Schema of oz0-plugin.yaml'
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and not __fish_seen_subcommand_from test inspect schema help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and __fish_seen_subcommand_from test" -l secret -d 'Give a secret of requires its value from this environment (repeatable); a required one is a placeholder otherwise' -r
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and __fish_seen_subcommand_from test" -l era -d 'Which era of the protocol to open connections in: try the modern one first, or just one' -r -f -a "probe\t'The modern one, and the legacy one where the server does not answer'
modern\t'2026-07-28 and later, without a handshake'
legacy\t'2025-11-25 and earlier, with one'"
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and __fish_seen_subcommand_from test" -l timeout -d 'How long a server may take to start and list, in seconds' -r
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and __fish_seen_subcommand_from test" -l color -d 'When to colour what is printed [variable: `OZ0_COLOR`] [default: auto]' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and __fish_seen_subcommand_from test" -l cache -d 'Where locked environments are kept [variable: `OZ0_CACHE`] [default: ~/.cache/oz0]' -r -f -a "(__fish_complete_directories)"
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and __fish_seen_subcommand_from test" -l json -d 'Print the report as JSON'
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and __fish_seen_subcommand_from test" -l relock -d 'Resolve the dependencies of package: tools anew, and write their locks'
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and __fish_seen_subcommand_from test" -l check -d 'Write nothing, and fail if tools.listing.json or a lock is not what would be written'
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and __fish_seen_subcommand_from test" -l no-contract-tests -d 'Leave out the contract tests in tests/'
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and __fish_seen_subcommand_from test" -s q -l quiet -d 'Say only what went wrong, and the result'
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and __fish_seen_subcommand_from test" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and __fish_seen_subcommand_from test" -s V -l version -d 'Print version'
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and __fish_seen_subcommand_from inspect" -l color -d 'When to colour what is printed [variable: `OZ0_COLOR`] [default: auto]' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and __fish_seen_subcommand_from inspect" -l cache -d 'Where locked environments are kept [variable: `OZ0_CACHE`] [default: ~/.cache/oz0]' -r -f -a "(__fish_complete_directories)"
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and __fish_seen_subcommand_from inspect" -l json -d 'Print it as JSON'
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and __fish_seen_subcommand_from inspect" -s q -l quiet -d 'Say only what went wrong, and the result'
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and __fish_seen_subcommand_from inspect" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and __fish_seen_subcommand_from inspect" -s V -l version -d 'Print version'
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and __fish_seen_subcommand_from schema" -l color -d 'When to colour what is printed [variable: `OZ0_COLOR`] [default: auto]' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and __fish_seen_subcommand_from schema" -l cache -d 'Where locked environments are kept [variable: `OZ0_CACHE`] [default: ~/.cache/oz0]' -r -f -a "(__fish_complete_directories)"
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and __fish_seen_subcommand_from schema" -s q -l quiet -d 'Say only what went wrong, and the result'
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and __fish_seen_subcommand_from schema" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and __fish_seen_subcommand_from schema" -s V -l version -d 'Print version'
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and __fish_seen_subcommand_from help" -f -a "test" -d 'Start a plugin\'s servers, and write what they list into tools.listing.json'
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and __fish_seen_subcommand_from help" -f -a "inspect" -d 'Show a plugin and its measured listing; runs nothing of it'
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and __fish_seen_subcommand_from help" -f -a "schema" -d 'Print the JSON Schema of oz0-plugin.yaml'
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c oz0 -n "__fish_oz0_using_subcommand completions" -l color -d 'When to colour what is printed [variable: `OZ0_COLOR`] [default: auto]' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c oz0 -n "__fish_oz0_using_subcommand completions" -l cache -d 'Where locked environments are kept [variable: `OZ0_CACHE`] [default: ~/.cache/oz0]' -r -f -a "(__fish_complete_directories)"
complete -c oz0 -n "__fish_oz0_using_subcommand completions" -s q -l quiet -d 'Say only what went wrong, and the result'
complete -c oz0 -n "__fish_oz0_using_subcommand completions" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c oz0 -n "__fish_oz0_using_subcommand completions" -s V -l version -d 'Print version'
complete -c oz0 -n "__fish_oz0_using_subcommand help; and not __fish_seen_subcommand_from plugin completions help" -f -a "plugin" -d 'Measure and look at plugins'
complete -c oz0 -n "__fish_oz0_using_subcommand help; and not __fish_seen_subcommand_from plugin completions help" -f -a "completions" -d 'Print the completions of a shell'
complete -c oz0 -n "__fish_oz0_using_subcommand help; and not __fish_seen_subcommand_from plugin completions help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c oz0 -n "__fish_oz0_using_subcommand help; and __fish_seen_subcommand_from plugin" -f -a "test" -d 'Start a plugin\'s servers, and write what they list into tools.listing.json'
complete -c oz0 -n "__fish_oz0_using_subcommand help; and __fish_seen_subcommand_from plugin" -f -a "inspect" -d 'Show a plugin and its measured listing; runs nothing of it'
complete -c oz0 -n "__fish_oz0_using_subcommand help; and __fish_seen_subcommand_from plugin" -f -a "schema" -d 'Print the JSON Schema of oz0-plugin.yaml'
