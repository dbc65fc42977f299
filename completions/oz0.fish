# Print an optspec for argparse to handle cmd's options that are independent of any subcommand.
function __fish_oz0_global_optspecs
    string join \n q/quiet color= cache= data= edge= h/help V/version
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
complete -c oz0 -n "__fish_oz0_needs_command" -l data -d 'Where plugins, approvals and tokens are kept, and the edge\'s socket [variable: `OZ0_DATA`] [default: ~/.local/share/oz0]' -r -f -a "(__fish_complete_directories)"
complete -c oz0 -n "__fish_oz0_needs_command" -l edge -d 'The edge to speak to, instead of the one of the data folder [variable: `OZ0_EDGE`]' -r -f
complete -c oz0 -n "__fish_oz0_needs_command" -s q -l quiet -d 'Say only what went wrong, and the result'
complete -c oz0 -n "__fish_oz0_needs_command" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c oz0 -n "__fish_oz0_needs_command" -s V -l version -d 'Print version'
complete -c oz0 -n "__fish_oz0_needs_command" -f -a "up" -d 'Run plugins, with an MCP endpoint for clients'
complete -c oz0 -n "__fish_oz0_needs_command" -f -a "mcp" -d 'Run one plugin for the MCP client that starts this command, over its standard input and output'
complete -c oz0 -n "__fish_oz0_needs_command" -f -a "edge" -d 'Run an edge: the control plane alone, for nodes on other machines'
complete -c oz0 -n "__fish_oz0_needs_command" -f -a "wrap" -d 'Make a plugin\'s folder around a server that you use'
complete -c oz0 -n "__fish_oz0_needs_command" -f -a "plugin" -d 'Measure plugins, look at them, and approve what changes in them'
complete -c oz0 -n "__fish_oz0_needs_command" -f -a "lsp" -d 'Check plugins in an editor, as a language server on standard input and output'
complete -c oz0 -n "__fish_oz0_needs_command" -f -a "catalog" -d 'Show every function as it was approved, and what waits beside it'
complete -c oz0 -n "__fish_oz0_needs_command" -f -a "call" -d 'Call a function, as a client would'
complete -c oz0 -n "__fish_oz0_needs_command" -f -a "policy" -d 'Say what may be called, what a person is asked about, and what is refused'
complete -c oz0 -n "__fish_oz0_needs_command" -f -a "approvals" -d 'Look at the calls that wait for a person, and decide'
complete -c oz0 -n "__fish_oz0_needs_command" -f -a "secret" -d 'Keep the secrets that plugins\' processes are given'
complete -c oz0 -n "__fish_oz0_needs_command" -f -a "connection" -d 'Connect plugins to accounts at outside systems, whose tokens go with single calls'
complete -c oz0 -n "__fish_oz0_needs_command" -f -a "audit" -d 'Read the audit log: who approved what, and when'
complete -c oz0 -n "__fish_oz0_needs_command" -f -a "token" -d 'Make, list and revoke tokens'
complete -c oz0 -n "__fish_oz0_needs_command" -f -a "login" -d 'Keep a token for an edge, so that commands use it'
complete -c oz0 -n "__fish_oz0_needs_command" -f -a "node" -d 'Run a node, join an edge with it, or look at an edge\'s nodes'
complete -c oz0 -n "__fish_oz0_needs_command" -f -a "completions" -d 'Print the completions of a shell'
complete -c oz0 -n "__fish_oz0_needs_command" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c oz0 -n "__fish_oz0_using_subcommand up" -l listen -d 'Where the edge listens; port 0 picks a free one [variable: `OZ0_LISTEN`] [default: 127.0.0.1:7070]' -r
complete -c oz0 -n "__fish_oz0_using_subcommand up" -l mcp-listen -d 'Where the MCP endpoint listens; port 0 picks a free one [variable: `OZ0_MCP_LISTEN`] [default: 127.0.0.1:7071]' -r
complete -c oz0 -n "__fish_oz0_using_subcommand up" -l host -d 'Another name that this machine is reached by (repeatable); requests for other names are refused' -r
complete -c oz0 -n "__fish_oz0_using_subcommand up" -l public-url -d 'Where people reach the console, of a proxy that stands in front: `https://oz0.example` [variable: `OZ0_PUBLIC_URL`]' -r -f
complete -c oz0 -n "__fish_oz0_using_subcommand up" -l trusted-proxy -d 'A proxy that is believed when it says whom it stands for: an address, or a network (repeatable)' -r
complete -c oz0 -n "__fish_oz0_using_subcommand up" -l secret -d 'Give a secret its value from this environment, to each plugin that declares it when it is started (repeatable); to one plugin alone: PLUGIN=NAME' -r
complete -c oz0 -n "__fish_oz0_using_subcommand up" -l share -d 'Let a plugin\'s servers read and write this folder, at the same path (repeatable); where several plugins run, say which: NAME=DIR' -r -f -a "(__fish_complete_directories)"
complete -c oz0 -n "__fish_oz0_using_subcommand up" -l share-read -d 'Let a plugin\'s servers read this folder, at the same path (repeatable); NAME=DIR as with --share' -r -f -a "(__fish_complete_directories)"
complete -c oz0 -n "__fish_oz0_using_subcommand up" -l verify-every -d 'How old a server\'s listing may be when a call relies on it, in seconds; 0 lists before each call [variable: `OZ0_VERIFY_EVERY`] [default: 2, and 30 for remote servers]' -r
complete -c oz0 -n "__fish_oz0_using_subcommand up" -l validate -d 'What becomes of structured results that do not match the output schema [variable: `OZ0_VALIDATE`] [default: warn]' -r -f -a "off\t'Nothing is checked'
warn\t'They pass, and it is said'
refuse\t'They are refused'"
complete -c oz0 -n "__fish_oz0_using_subcommand up" -l arguments -d 'Which arguments are let through [variable: `OZ0_ARGUMENTS`] [default: as-listed]' -r -f -a "as-listed\t'What the pinned input schema allows'
strict\t'Only what it names'"
complete -c oz0 -n "__fish_oz0_using_subcommand up" -l edge-grace -d 'How long calls go on when the edge is lost, in seconds [variable: `OZ0_EDGE_GRACE`] [default: 3600]' -r
complete -c oz0 -n "__fish_oz0_using_subcommand up" -l approval-timeout -d 'How long a call waits for a person who is asked about it, in seconds; a day at most [variable: `OZ0_APPROVAL_TIMEOUT`] [default: 600]' -r
complete -c oz0 -n "__fish_oz0_using_subcommand up" -l ai-label -d 'The line put under text that a plugin marks as written for people by a machine [variable: `OZ0_AI_LABEL`] [default: [AI-generated]]' -r
complete -c oz0 -n "__fish_oz0_using_subcommand up" -l metrics-listen -d 'Serve /metrics, /healthz and /readyz on a port of their own, to anyone who reaches it [variable: `OZ0_METRICS_LISTEN`] [default: none]' -r
complete -c oz0 -n "__fish_oz0_using_subcommand up" -l log -d 'Log to standard error, in place of what is said there otherwise: a level, or directives such as `info,oz0::call=debug` [variable: `OZ0_LOG`] [default: off, and info where a format is given]' -r
complete -c oz0 -n "__fish_oz0_using_subcommand up" -l log-format -d 'How the log is written; json is an object a line [variable: `OZ0_LOG_FORMAT`] [default: text]' -r -f -a "text\t'For people'
json\t'For programs'"
complete -c oz0 -n "__fish_oz0_using_subcommand up" -l color -d 'When to colour what is printed [variable: `OZ0_COLOR`] [default: auto]' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c oz0 -n "__fish_oz0_using_subcommand up" -l cache -d 'Where locked environments are kept [variable: `OZ0_CACHE`] [default: ~/.cache/oz0]' -r -f -a "(__fish_complete_directories)"
complete -c oz0 -n "__fish_oz0_using_subcommand up" -l data -d 'Where plugins, approvals and tokens are kept, and the edge\'s socket [variable: `OZ0_DATA`] [default: ~/.local/share/oz0]' -r -f -a "(__fish_complete_directories)"
complete -c oz0 -n "__fish_oz0_using_subcommand up" -l edge -d 'The edge to speak to, instead of the one of the data folder [variable: `OZ0_EDGE`]' -r -f
complete -c oz0 -n "__fish_oz0_using_subcommand up" -l mcp-auth -d 'Let only MCP clients in that show a token: oz0 token create --client NAME'
complete -c oz0 -n "__fish_oz0_using_subcommand up" -l json -d 'Print the first line as JSON'
complete -c oz0 -n "__fish_oz0_using_subcommand up" -s q -l quiet -d 'Say only what went wrong, and the result'
complete -c oz0 -n "__fish_oz0_using_subcommand up" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c oz0 -n "__fish_oz0_using_subcommand up" -s V -l version -d 'Print version'
complete -c oz0 -n "__fish_oz0_using_subcommand mcp" -l secret -d 'Give a secret its value from this environment, to each plugin that declares it when it is started (repeatable); to one plugin alone: PLUGIN=NAME' -r
complete -c oz0 -n "__fish_oz0_using_subcommand mcp" -l share -d 'Let a plugin\'s servers read and write this folder, at the same path (repeatable); where several plugins run, say which: NAME=DIR' -r -f -a "(__fish_complete_directories)"
complete -c oz0 -n "__fish_oz0_using_subcommand mcp" -l share-read -d 'Let a plugin\'s servers read this folder, at the same path (repeatable); NAME=DIR as with --share' -r -f -a "(__fish_complete_directories)"
complete -c oz0 -n "__fish_oz0_using_subcommand mcp" -l verify-every -d 'How old a server\'s listing may be when a call relies on it, in seconds; 0 lists before each call [variable: `OZ0_VERIFY_EVERY`] [default: 2, and 30 for remote servers]' -r
complete -c oz0 -n "__fish_oz0_using_subcommand mcp" -l validate -d 'What becomes of structured results that do not match the output schema [variable: `OZ0_VALIDATE`] [default: warn]' -r -f -a "off\t'Nothing is checked'
warn\t'They pass, and it is said'
refuse\t'They are refused'"
complete -c oz0 -n "__fish_oz0_using_subcommand mcp" -l arguments -d 'Which arguments are let through [variable: `OZ0_ARGUMENTS`] [default: as-listed]' -r -f -a "as-listed\t'What the pinned input schema allows'
strict\t'Only what it names'"
complete -c oz0 -n "__fish_oz0_using_subcommand mcp" -l edge-grace -d 'How long calls go on when the edge is lost, in seconds [variable: `OZ0_EDGE_GRACE`] [default: 3600]' -r
complete -c oz0 -n "__fish_oz0_using_subcommand mcp" -l approval-timeout -d 'How long a call waits for a person who is asked about it, in seconds; a day at most [variable: `OZ0_APPROVAL_TIMEOUT`] [default: 600]' -r
complete -c oz0 -n "__fish_oz0_using_subcommand mcp" -l ai-label -d 'The line put under text that a plugin marks as written for people by a machine [variable: `OZ0_AI_LABEL`] [default: [AI-generated]]' -r
complete -c oz0 -n "__fish_oz0_using_subcommand mcp" -l log -d 'Log to standard error, in place of what is said there otherwise: a level, or directives such as `info,oz0::call=debug` [variable: `OZ0_LOG`] [default: off, and info where a format is given]' -r
complete -c oz0 -n "__fish_oz0_using_subcommand mcp" -l log-format -d 'How the log is written; json is an object a line [variable: `OZ0_LOG_FORMAT`] [default: text]' -r -f -a "text\t'For people'
json\t'For programs'"
complete -c oz0 -n "__fish_oz0_using_subcommand mcp" -l color -d 'When to colour what is printed [variable: `OZ0_COLOR`] [default: auto]' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c oz0 -n "__fish_oz0_using_subcommand mcp" -l cache -d 'Where locked environments are kept [variable: `OZ0_CACHE`] [default: ~/.cache/oz0]' -r -f -a "(__fish_complete_directories)"
complete -c oz0 -n "__fish_oz0_using_subcommand mcp" -l data -d 'Where plugins, approvals and tokens are kept, and the edge\'s socket [variable: `OZ0_DATA`] [default: ~/.local/share/oz0]' -r -f -a "(__fish_complete_directories)"
complete -c oz0 -n "__fish_oz0_using_subcommand mcp" -l edge -d 'The edge to speak to, instead of the one of the data folder [variable: `OZ0_EDGE`]' -r -f
complete -c oz0 -n "__fish_oz0_using_subcommand mcp" -s q -l quiet -d 'Say only what went wrong, and the result'
complete -c oz0 -n "__fish_oz0_using_subcommand mcp" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c oz0 -n "__fish_oz0_using_subcommand mcp" -s V -l version -d 'Print version'
complete -c oz0 -n "__fish_oz0_using_subcommand edge; and not __fish_seen_subcommand_from migrate backup restore help" -l listen -d 'Where it listens; port 0 picks a free one [variable: `OZ0_LISTEN`] [default: 127.0.0.1:7070]' -r
complete -c oz0 -n "__fish_oz0_using_subcommand edge; and not __fish_seen_subcommand_from migrate backup restore help" -l host -d 'Another name that this machine is reached by (repeatable); requests for other names are refused' -r
complete -c oz0 -n "__fish_oz0_using_subcommand edge; and not __fish_seen_subcommand_from migrate backup restore help" -l public-url -d 'Where people reach the console, of a proxy that stands in front: `https://oz0.example` [variable: `OZ0_PUBLIC_URL`]' -r -f
complete -c oz0 -n "__fish_oz0_using_subcommand edge; and not __fish_seen_subcommand_from migrate backup restore help" -l trusted-proxy -d 'A proxy that is believed when it says whom it stands for: an address, or a network (repeatable)' -r
complete -c oz0 -n "__fish_oz0_using_subcommand edge; and not __fish_seen_subcommand_from migrate backup restore help" -l tls-cert -d 'The certificate to show, with its chain, in PEM' -r -F
complete -c oz0 -n "__fish_oz0_using_subcommand edge; and not __fish_seen_subcommand_from migrate backup restore help" -l tls-key -d 'Its private key, in PEM' -r -F
complete -c oz0 -n "__fish_oz0_using_subcommand edge; and not __fish_seen_subcommand_from migrate backup restore help" -l store -d 'The PostgreSQL database to keep the store in, which other edges may use as well; a file in the data folder otherwise. An address with a password is better given in the variable, which other users do not see [variable: `OZ0_STORE`]' -r
complete -c oz0 -n "__fish_oz0_using_subcommand edge; and not __fish_seen_subcommand_from migrate backup restore help" -l bundles -d 'Where bundles are kept: a folder, or `s3://BUCKET[/PREFIX]` with region, endpoint and credentials in the variables that Amazon\'s tools read [variable: `OZ0_BUNDLES`] [default: `bundles` in the data folder]' -r
complete -c oz0 -n "__fish_oz0_using_subcommand edge; and not __fish_seen_subcommand_from migrate backup restore help" -l metrics-listen -d 'Serve /metrics, /healthz and /readyz on a port of their own, to anyone who reaches it [variable: `OZ0_METRICS_LISTEN`] [default: none]' -r
complete -c oz0 -n "__fish_oz0_using_subcommand edge; and not __fish_seen_subcommand_from migrate backup restore help" -l log -d 'Log to standard error, in place of what is said there otherwise: a level, or directives such as `info,oz0::call=debug` [variable: `OZ0_LOG`] [default: off, and info where a format is given]' -r
complete -c oz0 -n "__fish_oz0_using_subcommand edge; and not __fish_seen_subcommand_from migrate backup restore help" -l log-format -d 'How the log is written; json is an object a line [variable: `OZ0_LOG_FORMAT`] [default: text]' -r -f -a "text\t'For people'
json\t'For programs'"
complete -c oz0 -n "__fish_oz0_using_subcommand edge; and not __fish_seen_subcommand_from migrate backup restore help" -l color -d 'When to colour what is printed [variable: `OZ0_COLOR`] [default: auto]' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c oz0 -n "__fish_oz0_using_subcommand edge; and not __fish_seen_subcommand_from migrate backup restore help" -l cache -d 'Where locked environments are kept [variable: `OZ0_CACHE`] [default: ~/.cache/oz0]' -r -f -a "(__fish_complete_directories)"
complete -c oz0 -n "__fish_oz0_using_subcommand edge; and not __fish_seen_subcommand_from migrate backup restore help" -l data -d 'Where plugins, approvals and tokens are kept, and the edge\'s socket [variable: `OZ0_DATA`] [default: ~/.local/share/oz0]' -r -f -a "(__fish_complete_directories)"
complete -c oz0 -n "__fish_oz0_using_subcommand edge; and not __fish_seen_subcommand_from migrate backup restore help" -l edge -d 'The edge to speak to, instead of the one of the data folder [variable: `OZ0_EDGE`]' -r -f
complete -c oz0 -n "__fish_oz0_using_subcommand edge; and not __fish_seen_subcommand_from migrate backup restore help" -l json -d 'Print the first line as JSON'
complete -c oz0 -n "__fish_oz0_using_subcommand edge; and not __fish_seen_subcommand_from migrate backup restore help" -s q -l quiet -d 'Say only what went wrong, and the result'
complete -c oz0 -n "__fish_oz0_using_subcommand edge; and not __fish_seen_subcommand_from migrate backup restore help" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c oz0 -n "__fish_oz0_using_subcommand edge; and not __fish_seen_subcommand_from migrate backup restore help" -s V -l version -d 'Print version'
complete -c oz0 -n "__fish_oz0_using_subcommand edge; and not __fish_seen_subcommand_from migrate backup restore help" -f -a "migrate" -d 'Bring a store\'s schema to what this oz0 reads'
complete -c oz0 -n "__fish_oz0_using_subcommand edge; and not __fish_seen_subcommand_from migrate backup restore help" -f -a "backup" -d 'Write the store and its bundles into a new file, also while an edge runs'
complete -c oz0 -n "__fish_oz0_using_subcommand edge; and not __fish_seen_subcommand_from migrate backup restore help" -f -a "restore" -d 'Bring a backup into a store that is not there yet'
complete -c oz0 -n "__fish_oz0_using_subcommand edge; and not __fish_seen_subcommand_from migrate backup restore help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c oz0 -n "__fish_oz0_using_subcommand edge; and __fish_seen_subcommand_from migrate" -l store -d 'The PostgreSQL database to keep the store in, which other edges may use as well; a file in the data folder otherwise. An address with a password is better given in the variable, which other users do not see [variable: `OZ0_STORE`]' -r
complete -c oz0 -n "__fish_oz0_using_subcommand edge; and __fish_seen_subcommand_from migrate" -l bundles -d 'Where bundles are kept: a folder, or `s3://BUCKET[/PREFIX]` with region, endpoint and credentials in the variables that Amazon\'s tools read [variable: `OZ0_BUNDLES`] [default: `bundles` in the data folder]' -r
complete -c oz0 -n "__fish_oz0_using_subcommand edge; and __fish_seen_subcommand_from migrate" -l color -d 'When to colour what is printed [variable: `OZ0_COLOR`] [default: auto]' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c oz0 -n "__fish_oz0_using_subcommand edge; and __fish_seen_subcommand_from migrate" -l cache -d 'Where locked environments are kept [variable: `OZ0_CACHE`] [default: ~/.cache/oz0]' -r -f -a "(__fish_complete_directories)"
complete -c oz0 -n "__fish_oz0_using_subcommand edge; and __fish_seen_subcommand_from migrate" -l data -d 'Where plugins, approvals and tokens are kept, and the edge\'s socket [variable: `OZ0_DATA`] [default: ~/.local/share/oz0]' -r -f -a "(__fish_complete_directories)"
complete -c oz0 -n "__fish_oz0_using_subcommand edge; and __fish_seen_subcommand_from migrate" -l edge -d 'The edge to speak to, instead of the one of the data folder [variable: `OZ0_EDGE`]' -r -f
complete -c oz0 -n "__fish_oz0_using_subcommand edge; and __fish_seen_subcommand_from migrate" -s q -l quiet -d 'Say only what went wrong, and the result'
complete -c oz0 -n "__fish_oz0_using_subcommand edge; and __fish_seen_subcommand_from migrate" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c oz0 -n "__fish_oz0_using_subcommand edge; and __fish_seen_subcommand_from migrate" -s V -l version -d 'Print version'
complete -c oz0 -n "__fish_oz0_using_subcommand edge; and __fish_seen_subcommand_from backup" -l store -d 'The PostgreSQL database to keep the store in, which other edges may use as well; a file in the data folder otherwise. An address with a password is better given in the variable, which other users do not see [variable: `OZ0_STORE`]' -r
complete -c oz0 -n "__fish_oz0_using_subcommand edge; and __fish_seen_subcommand_from backup" -l bundles -d 'Where bundles are kept: a folder, or `s3://BUCKET[/PREFIX]` with region, endpoint and credentials in the variables that Amazon\'s tools read [variable: `OZ0_BUNDLES`] [default: `bundles` in the data folder]' -r
complete -c oz0 -n "__fish_oz0_using_subcommand edge; and __fish_seen_subcommand_from backup" -l color -d 'When to colour what is printed [variable: `OZ0_COLOR`] [default: auto]' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c oz0 -n "__fish_oz0_using_subcommand edge; and __fish_seen_subcommand_from backup" -l cache -d 'Where locked environments are kept [variable: `OZ0_CACHE`] [default: ~/.cache/oz0]' -r -f -a "(__fish_complete_directories)"
complete -c oz0 -n "__fish_oz0_using_subcommand edge; and __fish_seen_subcommand_from backup" -l data -d 'Where plugins, approvals and tokens are kept, and the edge\'s socket [variable: `OZ0_DATA`] [default: ~/.local/share/oz0]' -r -f -a "(__fish_complete_directories)"
complete -c oz0 -n "__fish_oz0_using_subcommand edge; and __fish_seen_subcommand_from backup" -l edge -d 'The edge to speak to, instead of the one of the data folder [variable: `OZ0_EDGE`]' -r -f
complete -c oz0 -n "__fish_oz0_using_subcommand edge; and __fish_seen_subcommand_from backup" -s q -l quiet -d 'Say only what went wrong, and the result'
complete -c oz0 -n "__fish_oz0_using_subcommand edge; and __fish_seen_subcommand_from backup" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c oz0 -n "__fish_oz0_using_subcommand edge; and __fish_seen_subcommand_from backup" -s V -l version -d 'Print version'
complete -c oz0 -n "__fish_oz0_using_subcommand edge; and __fish_seen_subcommand_from restore" -l store -d 'The PostgreSQL database to keep the store in, which other edges may use as well; a file in the data folder otherwise. An address with a password is better given in the variable, which other users do not see [variable: `OZ0_STORE`]' -r
complete -c oz0 -n "__fish_oz0_using_subcommand edge; and __fish_seen_subcommand_from restore" -l bundles -d 'Where bundles are kept: a folder, or `s3://BUCKET[/PREFIX]` with region, endpoint and credentials in the variables that Amazon\'s tools read [variable: `OZ0_BUNDLES`] [default: `bundles` in the data folder]' -r
complete -c oz0 -n "__fish_oz0_using_subcommand edge; and __fish_seen_subcommand_from restore" -l color -d 'When to colour what is printed [variable: `OZ0_COLOR`] [default: auto]' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c oz0 -n "__fish_oz0_using_subcommand edge; and __fish_seen_subcommand_from restore" -l cache -d 'Where locked environments are kept [variable: `OZ0_CACHE`] [default: ~/.cache/oz0]' -r -f -a "(__fish_complete_directories)"
complete -c oz0 -n "__fish_oz0_using_subcommand edge; and __fish_seen_subcommand_from restore" -l data -d 'Where plugins, approvals and tokens are kept, and the edge\'s socket [variable: `OZ0_DATA`] [default: ~/.local/share/oz0]' -r -f -a "(__fish_complete_directories)"
complete -c oz0 -n "__fish_oz0_using_subcommand edge; and __fish_seen_subcommand_from restore" -l edge -d 'The edge to speak to, instead of the one of the data folder [variable: `OZ0_EDGE`]' -r -f
complete -c oz0 -n "__fish_oz0_using_subcommand edge; and __fish_seen_subcommand_from restore" -s q -l quiet -d 'Say only what went wrong, and the result'
complete -c oz0 -n "__fish_oz0_using_subcommand edge; and __fish_seen_subcommand_from restore" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c oz0 -n "__fish_oz0_using_subcommand edge; and __fish_seen_subcommand_from restore" -s V -l version -d 'Print version'
complete -c oz0 -n "__fish_oz0_using_subcommand edge; and __fish_seen_subcommand_from help" -f -a "migrate" -d 'Bring a store\'s schema to what this oz0 reads'
complete -c oz0 -n "__fish_oz0_using_subcommand edge; and __fish_seen_subcommand_from help" -f -a "backup" -d 'Write the store and its bundles into a new file, also while an edge runs'
complete -c oz0 -n "__fish_oz0_using_subcommand edge; and __fish_seen_subcommand_from help" -f -a "restore" -d 'Bring a backup into a store that is not there yet'
complete -c oz0 -n "__fish_oz0_using_subcommand edge; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c oz0 -n "__fish_oz0_using_subcommand wrap" -l dir -d 'The folder to write: a new one, or the one of the server\'s own project [default: one of the plugin\'s name here]' -r -f -a "(__fish_complete_directories)"
complete -c oz0 -n "__fish_oz0_using_subcommand wrap" -l name -d 'The plugin\'s name [default: made of the server\'s]' -r
complete -c oz0 -n "__fish_oz0_using_subcommand wrap" -s e -l env -d 'Give the server this variable; the manifest has its value (repeatable)' -r
complete -c oz0 -n "__fish_oz0_using_subcommand wrap" -l secret -d 'A variable that is a secret: the manifest has its name alone, and whoever runs the plugin hands its value over (repeatable)' -r
complete -c oz0 -n "__fish_oz0_using_subcommand wrap" -l egress -d 'A host that the server reaches (repeatable); without one it has no network' -r
complete -c oz0 -n "__fish_oz0_using_subcommand wrap" -l license -d 'The plugin\'s licence, as an SPDX expression' -r
complete -c oz0 -n "__fish_oz0_using_subcommand wrap" -l url -d 'Wrap a remote server' -r -f
complete -c oz0 -n "__fish_oz0_using_subcommand wrap" -l header -d 'A header of requests to the remote server; the manifest has its value (repeatable)' -r
complete -c oz0 -n "__fish_oz0_using_subcommand wrap" -l from -d 'Wrap a server of a client\'s configuration: its name, where there are several, stands behind' -r -F
complete -c oz0 -n "__fish_oz0_using_subcommand wrap" -l color -d 'When to colour what is printed [variable: `OZ0_COLOR`] [default: auto]' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c oz0 -n "__fish_oz0_using_subcommand wrap" -l cache -d 'Where locked environments are kept [variable: `OZ0_CACHE`] [default: ~/.cache/oz0]' -r -f -a "(__fish_complete_directories)"
complete -c oz0 -n "__fish_oz0_using_subcommand wrap" -l data -d 'Where plugins, approvals and tokens are kept, and the edge\'s socket [variable: `OZ0_DATA`] [default: ~/.local/share/oz0]' -r -f -a "(__fish_complete_directories)"
complete -c oz0 -n "__fish_oz0_using_subcommand wrap" -l edge -d 'The edge to speak to, instead of the one of the data folder [variable: `OZ0_EDGE`]' -r -f
complete -c oz0 -n "__fish_oz0_using_subcommand wrap" -l force -d 'Write over files that are there'
complete -c oz0 -n "__fish_oz0_using_subcommand wrap" -s q -l quiet -d 'Say only what went wrong, and the result'
complete -c oz0 -n "__fish_oz0_using_subcommand wrap" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c oz0 -n "__fish_oz0_using_subcommand wrap" -s V -l version -d 'Print version'
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and not __fish_seen_subcommand_from new test lint explain inspect pack install update promote rollback list approve-tools remove schema help" -l color -d 'When to colour what is printed [variable: `OZ0_COLOR`] [default: auto]' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and not __fish_seen_subcommand_from new test lint explain inspect pack install update promote rollback list approve-tools remove schema help" -l cache -d 'Where locked environments are kept [variable: `OZ0_CACHE`] [default: ~/.cache/oz0]' -r -f -a "(__fish_complete_directories)"
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and not __fish_seen_subcommand_from new test lint explain inspect pack install update promote rollback list approve-tools remove schema help" -l data -d 'Where plugins, approvals and tokens are kept, and the edge\'s socket [variable: `OZ0_DATA`] [default: ~/.local/share/oz0]' -r -f -a "(__fish_complete_directories)"
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and not __fish_seen_subcommand_from new test lint explain inspect pack install update promote rollback list approve-tools remove schema help" -l edge -d 'The edge to speak to, instead of the one of the data folder [variable: `OZ0_EDGE`]' -r -f
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and not __fish_seen_subcommand_from new test lint explain inspect pack install update promote rollback list approve-tools remove schema help" -s q -l quiet -d 'Say only what went wrong, and the result'
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and not __fish_seen_subcommand_from new test lint explain inspect pack install update promote rollback list approve-tools remove schema help" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and not __fish_seen_subcommand_from new test lint explain inspect pack install update promote rollback list approve-tools remove schema help" -s V -l version -d 'Print version'
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and not __fish_seen_subcommand_from new test lint explain inspect pack install update promote rollback list approve-tools remove schema help" -f -a "new" -d 'Write a new plugin from a template'
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and not __fish_seen_subcommand_from new test lint explain inspect pack install update promote rollback list approve-tools remove schema help" -f -a "test" -d 'Start a plugin\'s servers, and write what they list into tools.listing.json'
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and not __fish_seen_subcommand_from new test lint explain inspect pack install update promote rollback list approve-tools remove schema help" -f -a "lint" -d 'Check a plugin against the house rules; runs nothing of it'
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and not __fish_seen_subcommand_from new test lint explain inspect pack install update promote rollback list approve-tools remove schema help" -f -a "explain" -d 'Print a rule\'s page: what it finds, why, and what to do'
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and not __fish_seen_subcommand_from new test lint explain inspect pack install update promote rollback list approve-tools remove schema help" -f -a "inspect" -d 'Show a plugin, a folder or a bundle, and its measured listing; runs nothing of it'
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and not __fish_seen_subcommand_from new test lint explain inspect pack install update promote rollback list approve-tools remove schema help" -f -a "pack" -d 'Pack a plugin into one file, NAME-VERSION.oz0, for others to install'
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and not __fish_seen_subcommand_from new test lint explain inspect pack install update promote rollback list approve-tools remove schema help" -f -a "install" -d 'Install a plugin, a folder or a bundle, on every node'
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and not __fish_seen_subcommand_from new test lint explain inspect pack install update promote rollback list approve-tools remove schema help" -f -a "update" -d 'Run another version of an installed plugin, on every node or on some of them first'
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and not __fish_seen_subcommand_from new test lint explain inspect pack install update promote rollback list approve-tools remove schema help" -f -a "promote" -d 'Run a plugin\'s candidate on every node'
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and not __fish_seen_subcommand_from new test lint explain inspect pack install update promote rollback list approve-tools remove schema help" -f -a "rollback" -d 'Take a plugin\'s candidate back, or without one go back to the version before'
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and not __fish_seen_subcommand_from new test lint explain inspect pack install update promote rollback list approve-tools remove schema help" -f -a "list" -d 'Show the installed plugins: what runs where, what waits for approval, what is left out, what failed'
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and not __fish_seen_subcommand_from new test lint explain inspect pack install update promote rollback list approve-tools remove schema help" -f -a "approve-tools" -d 'Look at what changed in a plugin\'s tools, and approve it'
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and not __fish_seen_subcommand_from new test lint explain inspect pack install update promote rollback list approve-tools remove schema help" -f -a "remove" -d 'Remove a plugin: nodes stop running it, and what was approved of it stays known'
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and not __fish_seen_subcommand_from new test lint explain inspect pack install update promote rollback list approve-tools remove schema help" -f -a "schema" -d 'Print the JSON Schema of oz0-plugin.yaml'
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and not __fish_seen_subcommand_from new test lint explain inspect pack install update promote rollback list approve-tools remove schema help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and __fish_seen_subcommand_from new" -s t -l template -d 'What to begin with' -r -f -a "mcp-connector\t'A connector for a system whose vendor runs an MCP server: snapshot, connection, and a fake for its tests'
stdio\t'An MCP server of the plugin\'s own, in Python'
capability\t'An agent that does a job with another plugin\'s functions, and an eval that replays offline'
policy\t'A hook that looks at calls and may refuse them, with a server of its own'"
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and __fish_seen_subcommand_from new" -l dir -d 'The folder to write, which is new or empty [default: one of the plugin\'s name here]' -r -f -a "(__fish_complete_directories)"
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and __fish_seen_subcommand_from new" -l color -d 'When to colour what is printed [variable: `OZ0_COLOR`] [default: auto]' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and __fish_seen_subcommand_from new" -l cache -d 'Where locked environments are kept [variable: `OZ0_CACHE`] [default: ~/.cache/oz0]' -r -f -a "(__fish_complete_directories)"
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and __fish_seen_subcommand_from new" -l data -d 'Where plugins, approvals and tokens are kept, and the edge\'s socket [variable: `OZ0_DATA`] [default: ~/.local/share/oz0]' -r -f -a "(__fish_complete_directories)"
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and __fish_seen_subcommand_from new" -l edge -d 'The edge to speak to, instead of the one of the data folder [variable: `OZ0_EDGE`]' -r -f
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and __fish_seen_subcommand_from new" -s q -l quiet -d 'Say only what went wrong, and the result'
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and __fish_seen_subcommand_from new" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and __fish_seen_subcommand_from new" -s V -l version -d 'Print version'
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and __fish_seen_subcommand_from test" -l secret -d 'Give a secret of requires its value from this environment (repeatable); a required one is a placeholder otherwise' -r
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and __fish_seen_subcommand_from test" -l share -d 'Let the servers read and write this folder, at the same path (repeatable)' -r -f -a "(__fish_complete_directories)"
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and __fish_seen_subcommand_from test" -l share-read -d 'Let the servers read this folder, at the same path (repeatable)' -r -f -a "(__fish_complete_directories)"
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and __fish_seen_subcommand_from test" -l era -d 'Which era of the protocol to open connections in: try the modern one first, or just one' -r -f -a "probe\t'The modern one, and the legacy one where the server does not answer'
modern\t'2026-07-28 and later, without a handshake'
legacy\t'2025-11-25 and earlier, with one'"
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and __fish_seen_subcommand_from test" -l timeout -d 'How long a server may take to start and list, in seconds' -r
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and __fish_seen_subcommand_from test" -l color -d 'When to colour what is printed [variable: `OZ0_COLOR`] [default: auto]' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and __fish_seen_subcommand_from test" -l cache -d 'Where locked environments are kept [variable: `OZ0_CACHE`] [default: ~/.cache/oz0]' -r -f -a "(__fish_complete_directories)"
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and __fish_seen_subcommand_from test" -l data -d 'Where plugins, approvals and tokens are kept, and the edge\'s socket [variable: `OZ0_DATA`] [default: ~/.local/share/oz0]' -r -f -a "(__fish_complete_directories)"
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and __fish_seen_subcommand_from test" -l edge -d 'The edge to speak to, instead of the one of the data folder [variable: `OZ0_EDGE`]' -r -f
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and __fish_seen_subcommand_from test" -l json -d 'Print the report as JSON'
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and __fish_seen_subcommand_from test" -l relock -d 'Resolve the dependencies of package: tools anew, and write their locks'
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and __fish_seen_subcommand_from test" -l check -d 'Write nothing, and fail if tools.listing.json or a lock is not what would be written'
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and __fish_seen_subcommand_from test" -l no-contract-tests -d 'Leave out the contract tests in tests/'
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and __fish_seen_subcommand_from test" -s q -l quiet -d 'Say only what went wrong, and the result'
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and __fish_seen_subcommand_from test" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and __fish_seen_subcommand_from test" -s V -l version -d 'Print version'
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and __fish_seen_subcommand_from lint" -l rule -d 'Run only this rule (repeatable): its code or its name; what the loader finds is told in any case' -r
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and __fish_seen_subcommand_from lint" -l format -d 'How to print the findings' -r -f -a "pretty\t'With the lines of the file'
concise\t'A line each'
json\t'The format `oz0.lint.v1`'
sarif\t'SARIF 2.1.0, for code scanners'
github\t'Annotations of GitHub Actions'"
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and __fish_seen_subcommand_from lint" -l output -d 'Write the findings into a file as well (repeatable)' -r
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and __fish_seen_subcommand_from lint" -l color -d 'When to colour what is printed [variable: `OZ0_COLOR`] [default: auto]' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and __fish_seen_subcommand_from lint" -l cache -d 'Where locked environments are kept [variable: `OZ0_CACHE`] [default: ~/.cache/oz0]' -r -f -a "(__fish_complete_directories)"
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and __fish_seen_subcommand_from lint" -l data -d 'Where plugins, approvals and tokens are kept, and the edge\'s socket [variable: `OZ0_DATA`] [default: ~/.local/share/oz0]' -r -f -a "(__fish_complete_directories)"
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and __fish_seen_subcommand_from lint" -l edge -d 'The edge to speak to, instead of the one of the data folder [variable: `OZ0_EDGE`]' -r -f
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and __fish_seen_subcommand_from lint" -l verified -d 'Hold the plugin to the level of verified plugins'
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and __fish_seen_subcommand_from lint" -l fix -d 'Make the changes that cannot alter what the plugin does'
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and __fish_seen_subcommand_from lint" -l diff -d 'Show what --fix would change, and write nothing'
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and __fish_seen_subcommand_from lint" -l json -d 'Print the findings as JSON'
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and __fish_seen_subcommand_from lint" -l list-rules -d 'List the rules'
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and __fish_seen_subcommand_from lint" -s q -l quiet -d 'Say only what went wrong, and the result'
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and __fish_seen_subcommand_from lint" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and __fish_seen_subcommand_from lint" -s V -l version -d 'Print version'
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and __fish_seen_subcommand_from explain" -l color -d 'When to colour what is printed [variable: `OZ0_COLOR`] [default: auto]' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and __fish_seen_subcommand_from explain" -l cache -d 'Where locked environments are kept [variable: `OZ0_CACHE`] [default: ~/.cache/oz0]' -r -f -a "(__fish_complete_directories)"
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and __fish_seen_subcommand_from explain" -l data -d 'Where plugins, approvals and tokens are kept, and the edge\'s socket [variable: `OZ0_DATA`] [default: ~/.local/share/oz0]' -r -f -a "(__fish_complete_directories)"
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and __fish_seen_subcommand_from explain" -l edge -d 'The edge to speak to, instead of the one of the data folder [variable: `OZ0_EDGE`]' -r -f
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and __fish_seen_subcommand_from explain" -l json -d 'Print it as JSON'
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and __fish_seen_subcommand_from explain" -s q -l quiet -d 'Say only what went wrong, and the result'
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and __fish_seen_subcommand_from explain" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and __fish_seen_subcommand_from explain" -s V -l version -d 'Print version'
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and __fish_seen_subcommand_from inspect" -l color -d 'When to colour what is printed [variable: `OZ0_COLOR`] [default: auto]' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and __fish_seen_subcommand_from inspect" -l cache -d 'Where locked environments are kept [variable: `OZ0_CACHE`] [default: ~/.cache/oz0]' -r -f -a "(__fish_complete_directories)"
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and __fish_seen_subcommand_from inspect" -l data -d 'Where plugins, approvals and tokens are kept, and the edge\'s socket [variable: `OZ0_DATA`] [default: ~/.local/share/oz0]' -r -f -a "(__fish_complete_directories)"
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and __fish_seen_subcommand_from inspect" -l edge -d 'The edge to speak to, instead of the one of the data folder [variable: `OZ0_EDGE`]' -r -f
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and __fish_seen_subcommand_from inspect" -l json -d 'Print it as JSON'
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and __fish_seen_subcommand_from inspect" -s q -l quiet -d 'Say only what went wrong, and the result'
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and __fish_seen_subcommand_from inspect" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and __fish_seen_subcommand_from inspect" -s V -l version -d 'Print version'
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and __fish_seen_subcommand_from pack" -l secret -d 'With --list-tools, give a secret of requires its value from this environment (repeatable)' -r
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and __fish_seen_subcommand_from pack" -s o -l output -d 'Where to write the bundle: a file, or a folder for NAME-VERSION.oz0 [default: the working folder]' -r -F
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and __fish_seen_subcommand_from pack" -l color -d 'When to colour what is printed [variable: `OZ0_COLOR`] [default: auto]' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and __fish_seen_subcommand_from pack" -l cache -d 'Where locked environments are kept [variable: `OZ0_CACHE`] [default: ~/.cache/oz0]' -r -f -a "(__fish_complete_directories)"
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and __fish_seen_subcommand_from pack" -l data -d 'Where plugins, approvals and tokens are kept, and the edge\'s socket [variable: `OZ0_DATA`] [default: ~/.local/share/oz0]' -r -f -a "(__fish_complete_directories)"
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and __fish_seen_subcommand_from pack" -l edge -d 'The edge to speak to, instead of the one of the data folder [variable: `OZ0_EDGE`]' -r -f
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and __fish_seen_subcommand_from pack" -l list-tools -d 'First start the plugin\'s servers, and write what they list into tools.listing.json'
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and __fish_seen_subcommand_from pack" -s q -l quiet -d 'Say only what went wrong, and the result'
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and __fish_seen_subcommand_from pack" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and __fish_seen_subcommand_from pack" -s V -l version -d 'Print version'
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and __fish_seen_subcommand_from install" -l color -d 'When to colour what is printed [variable: `OZ0_COLOR`] [default: auto]' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and __fish_seen_subcommand_from install" -l cache -d 'Where locked environments are kept [variable: `OZ0_CACHE`] [default: ~/.cache/oz0]' -r -f -a "(__fish_complete_directories)"
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and __fish_seen_subcommand_from install" -l data -d 'Where plugins, approvals and tokens are kept, and the edge\'s socket [variable: `OZ0_DATA`] [default: ~/.local/share/oz0]' -r -f -a "(__fish_complete_directories)"
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and __fish_seen_subcommand_from install" -l edge -d 'The edge to speak to, instead of the one of the data folder [variable: `OZ0_EDGE`]' -r -f
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and __fish_seen_subcommand_from install" -l show -d 'Only show what would be installed, and what differs from the version that is installed now'
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and __fish_seen_subcommand_from install" -l yes -d 'Install without asking a version whose functions differ from the installed one\'s, or cannot be compared'
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and __fish_seen_subcommand_from install" -l json -d 'Print as JSON: what is installed, or with --show what differs'
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and __fish_seen_subcommand_from install" -s q -l quiet -d 'Say only what went wrong, and the result'
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and __fish_seen_subcommand_from install" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and __fish_seen_subcommand_from install" -s V -l version -d 'Print version'
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and __fish_seen_subcommand_from update" -l canary -d 'Run it on these nodes only, as a candidate' -r
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and __fish_seen_subcommand_from update" -l percent -d 'Run it on so many of a hundred nodes only, as a candidate; a node that is in stays in when this grows' -r
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and __fish_seen_subcommand_from update" -l color -d 'When to colour what is printed [variable: `OZ0_COLOR`] [default: auto]' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and __fish_seen_subcommand_from update" -l cache -d 'Where locked environments are kept [variable: `OZ0_CACHE`] [default: ~/.cache/oz0]' -r -f -a "(__fish_complete_directories)"
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and __fish_seen_subcommand_from update" -l data -d 'Where plugins, approvals and tokens are kept, and the edge\'s socket [variable: `OZ0_DATA`] [default: ~/.local/share/oz0]' -r -f -a "(__fish_complete_directories)"
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and __fish_seen_subcommand_from update" -l edge -d 'The edge to speak to, instead of the one of the data folder [variable: `OZ0_EDGE`]' -r -f
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and __fish_seen_subcommand_from update" -l downgrade -d 'Also in place of a newer version'
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and __fish_seen_subcommand_from update" -l show -d 'Only show what would be installed, and what differs from the version that is installed now'
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and __fish_seen_subcommand_from update" -l yes -d 'Do not ask about a version whose functions differ from the installed one\'s, or cannot be compared, or that asks for more'
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and __fish_seen_subcommand_from update" -l json -d 'Print as JSON: what is installed, or with --show what differs'
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and __fish_seen_subcommand_from update" -s q -l quiet -d 'Say only what went wrong, and the result'
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and __fish_seen_subcommand_from update" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and __fish_seen_subcommand_from update" -s V -l version -d 'Print version'
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and __fish_seen_subcommand_from promote" -l color -d 'When to colour what is printed [variable: `OZ0_COLOR`] [default: auto]' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and __fish_seen_subcommand_from promote" -l cache -d 'Where locked environments are kept [variable: `OZ0_CACHE`] [default: ~/.cache/oz0]' -r -f -a "(__fish_complete_directories)"
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and __fish_seen_subcommand_from promote" -l data -d 'Where plugins, approvals and tokens are kept, and the edge\'s socket [variable: `OZ0_DATA`] [default: ~/.local/share/oz0]' -r -f -a "(__fish_complete_directories)"
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and __fish_seen_subcommand_from promote" -l edge -d 'The edge to speak to, instead of the one of the data folder [variable: `OZ0_EDGE`]' -r -f
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and __fish_seen_subcommand_from promote" -l yes -d 'Do not ask, whatever speaks against it'
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and __fish_seen_subcommand_from promote" -l json -d 'Print what is installed then as JSON'
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and __fish_seen_subcommand_from promote" -s q -l quiet -d 'Say only what went wrong, and the result'
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and __fish_seen_subcommand_from promote" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and __fish_seen_subcommand_from promote" -s V -l version -d 'Print version'
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and __fish_seen_subcommand_from rollback" -l color -d 'When to colour what is printed [variable: `OZ0_COLOR`] [default: auto]' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and __fish_seen_subcommand_from rollback" -l cache -d 'Where locked environments are kept [variable: `OZ0_CACHE`] [default: ~/.cache/oz0]' -r -f -a "(__fish_complete_directories)"
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and __fish_seen_subcommand_from rollback" -l data -d 'Where plugins, approvals and tokens are kept, and the edge\'s socket [variable: `OZ0_DATA`] [default: ~/.local/share/oz0]' -r -f -a "(__fish_complete_directories)"
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and __fish_seen_subcommand_from rollback" -l edge -d 'The edge to speak to, instead of the one of the data folder [variable: `OZ0_EDGE`]' -r -f
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and __fish_seen_subcommand_from rollback" -l json -d 'Print what is installed then as JSON'
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and __fish_seen_subcommand_from rollback" -s q -l quiet -d 'Say only what went wrong, and the result'
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and __fish_seen_subcommand_from rollback" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and __fish_seen_subcommand_from rollback" -s V -l version -d 'Print version'
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and __fish_seen_subcommand_from list" -l color -d 'When to colour what is printed [variable: `OZ0_COLOR`] [default: auto]' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and __fish_seen_subcommand_from list" -l cache -d 'Where locked environments are kept [variable: `OZ0_CACHE`] [default: ~/.cache/oz0]' -r -f -a "(__fish_complete_directories)"
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and __fish_seen_subcommand_from list" -l data -d 'Where plugins, approvals and tokens are kept, and the edge\'s socket [variable: `OZ0_DATA`] [default: ~/.local/share/oz0]' -r -f -a "(__fish_complete_directories)"
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and __fish_seen_subcommand_from list" -l edge -d 'The edge to speak to, instead of the one of the data folder [variable: `OZ0_EDGE`]' -r -f
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and __fish_seen_subcommand_from list" -l json -d 'Print them as JSON'
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and __fish_seen_subcommand_from list" -s q -l quiet -d 'Say only what went wrong, and the result'
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and __fish_seen_subcommand_from list" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and __fish_seen_subcommand_from list" -s V -l version -d 'Print version'
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and __fish_seen_subcommand_from approve-tools" -l change -d 'Take this change (repeatable): its ID; where it is shown first, 8 digits that begin no other\'s are enough' -r
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and __fish_seen_subcommand_from approve-tools" -l function -d 'Take what waits of this function (repeatable)' -r
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and __fish_seen_subcommand_from approve-tools" -l color -d 'When to colour what is printed [variable: `OZ0_COLOR`] [default: auto]' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and __fish_seen_subcommand_from approve-tools" -l cache -d 'Where locked environments are kept [variable: `OZ0_CACHE`] [default: ~/.cache/oz0]' -r -f -a "(__fish_complete_directories)"
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and __fish_seen_subcommand_from approve-tools" -l data -d 'Where plugins, approvals and tokens are kept, and the edge\'s socket [variable: `OZ0_DATA`] [default: ~/.local/share/oz0]' -r -f -a "(__fish_complete_directories)"
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and __fish_seen_subcommand_from approve-tools" -l edge -d 'The edge to speak to, instead of the one of the data folder [variable: `OZ0_EDGE`]' -r -f
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and __fish_seen_subcommand_from approve-tools" -l show -d 'Only show what waits'
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and __fish_seen_subcommand_from approve-tools" -l yes -d 'Approve without asking what --change names'
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and __fish_seen_subcommand_from approve-tools" -l json -d 'Print as JSON: what waits with --show, what was approved with --yes'
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and __fish_seen_subcommand_from approve-tools" -s q -l quiet -d 'Say only what went wrong, and the result'
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and __fish_seen_subcommand_from approve-tools" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and __fish_seen_subcommand_from approve-tools" -s V -l version -d 'Print version'
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and __fish_seen_subcommand_from remove" -l color -d 'When to colour what is printed [variable: `OZ0_COLOR`] [default: auto]' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and __fish_seen_subcommand_from remove" -l cache -d 'Where locked environments are kept [variable: `OZ0_CACHE`] [default: ~/.cache/oz0]' -r -f -a "(__fish_complete_directories)"
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and __fish_seen_subcommand_from remove" -l data -d 'Where plugins, approvals and tokens are kept, and the edge\'s socket [variable: `OZ0_DATA`] [default: ~/.local/share/oz0]' -r -f -a "(__fish_complete_directories)"
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and __fish_seen_subcommand_from remove" -l edge -d 'The edge to speak to, instead of the one of the data folder [variable: `OZ0_EDGE`]' -r -f
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and __fish_seen_subcommand_from remove" -s q -l quiet -d 'Say only what went wrong, and the result'
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and __fish_seen_subcommand_from remove" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and __fish_seen_subcommand_from remove" -s V -l version -d 'Print version'
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and __fish_seen_subcommand_from schema" -l color -d 'When to colour what is printed [variable: `OZ0_COLOR`] [default: auto]' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and __fish_seen_subcommand_from schema" -l cache -d 'Where locked environments are kept [variable: `OZ0_CACHE`] [default: ~/.cache/oz0]' -r -f -a "(__fish_complete_directories)"
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and __fish_seen_subcommand_from schema" -l data -d 'Where plugins, approvals and tokens are kept, and the edge\'s socket [variable: `OZ0_DATA`] [default: ~/.local/share/oz0]' -r -f -a "(__fish_complete_directories)"
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and __fish_seen_subcommand_from schema" -l edge -d 'The edge to speak to, instead of the one of the data folder [variable: `OZ0_EDGE`]' -r -f
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and __fish_seen_subcommand_from schema" -s q -l quiet -d 'Say only what went wrong, and the result'
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and __fish_seen_subcommand_from schema" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and __fish_seen_subcommand_from schema" -s V -l version -d 'Print version'
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and __fish_seen_subcommand_from help" -f -a "new" -d 'Write a new plugin from a template'
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and __fish_seen_subcommand_from help" -f -a "test" -d 'Start a plugin\'s servers, and write what they list into tools.listing.json'
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and __fish_seen_subcommand_from help" -f -a "lint" -d 'Check a plugin against the house rules; runs nothing of it'
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and __fish_seen_subcommand_from help" -f -a "explain" -d 'Print a rule\'s page: what it finds, why, and what to do'
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and __fish_seen_subcommand_from help" -f -a "inspect" -d 'Show a plugin, a folder or a bundle, and its measured listing; runs nothing of it'
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and __fish_seen_subcommand_from help" -f -a "pack" -d 'Pack a plugin into one file, NAME-VERSION.oz0, for others to install'
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and __fish_seen_subcommand_from help" -f -a "install" -d 'Install a plugin, a folder or a bundle, on every node'
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and __fish_seen_subcommand_from help" -f -a "update" -d 'Run another version of an installed plugin, on every node or on some of them first'
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and __fish_seen_subcommand_from help" -f -a "promote" -d 'Run a plugin\'s candidate on every node'
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and __fish_seen_subcommand_from help" -f -a "rollback" -d 'Take a plugin\'s candidate back, or without one go back to the version before'
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and __fish_seen_subcommand_from help" -f -a "list" -d 'Show the installed plugins: what runs where, what waits for approval, what is left out, what failed'
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and __fish_seen_subcommand_from help" -f -a "approve-tools" -d 'Look at what changed in a plugin\'s tools, and approve it'
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and __fish_seen_subcommand_from help" -f -a "remove" -d 'Remove a plugin: nodes stop running it, and what was approved of it stays known'
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and __fish_seen_subcommand_from help" -f -a "schema" -d 'Print the JSON Schema of oz0-plugin.yaml'
complete -c oz0 -n "__fish_oz0_using_subcommand plugin; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c oz0 -n "__fish_oz0_using_subcommand lsp" -l color -d 'When to colour what is printed [variable: `OZ0_COLOR`] [default: auto]' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c oz0 -n "__fish_oz0_using_subcommand lsp" -l cache -d 'Where locked environments are kept [variable: `OZ0_CACHE`] [default: ~/.cache/oz0]' -r -f -a "(__fish_complete_directories)"
complete -c oz0 -n "__fish_oz0_using_subcommand lsp" -l data -d 'Where plugins, approvals and tokens are kept, and the edge\'s socket [variable: `OZ0_DATA`] [default: ~/.local/share/oz0]' -r -f -a "(__fish_complete_directories)"
complete -c oz0 -n "__fish_oz0_using_subcommand lsp" -l edge -d 'The edge to speak to, instead of the one of the data folder [variable: `OZ0_EDGE`]' -r -f
complete -c oz0 -n "__fish_oz0_using_subcommand lsp" -l verified -d 'Hold plugins to the level of verified plugins, whatever the editor\'s settings say'
complete -c oz0 -n "__fish_oz0_using_subcommand lsp" -l stdio -d 'Speak on standard input and output, as is done in any case: some editors say so to every server'
complete -c oz0 -n "__fish_oz0_using_subcommand lsp" -s q -l quiet -d 'Say only what went wrong, and the result'
complete -c oz0 -n "__fish_oz0_using_subcommand lsp" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c oz0 -n "__fish_oz0_using_subcommand lsp" -s V -l version -d 'Print version'
complete -c oz0 -n "__fish_oz0_using_subcommand catalog" -l color -d 'When to colour what is printed [variable: `OZ0_COLOR`] [default: auto]' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c oz0 -n "__fish_oz0_using_subcommand catalog" -l cache -d 'Where locked environments are kept [variable: `OZ0_CACHE`] [default: ~/.cache/oz0]' -r -f -a "(__fish_complete_directories)"
complete -c oz0 -n "__fish_oz0_using_subcommand catalog" -l data -d 'Where plugins, approvals and tokens are kept, and the edge\'s socket [variable: `OZ0_DATA`] [default: ~/.local/share/oz0]' -r -f -a "(__fish_complete_directories)"
complete -c oz0 -n "__fish_oz0_using_subcommand catalog" -l edge -d 'The edge to speak to, instead of the one of the data folder [variable: `OZ0_EDGE`]' -r -f
complete -c oz0 -n "__fish_oz0_using_subcommand catalog" -l json -d 'Print it as JSON, with every accepted listing and every listing that waits'
complete -c oz0 -n "__fish_oz0_using_subcommand catalog" -s q -l quiet -d 'Say only what went wrong, and the result'
complete -c oz0 -n "__fish_oz0_using_subcommand catalog" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c oz0 -n "__fish_oz0_using_subcommand catalog" -s V -l version -d 'Print version'
complete -c oz0 -n "__fish_oz0_using_subcommand call" -l node -d 'The node to call it on; any that lists the function otherwise' -r
complete -c oz0 -n "__fish_oz0_using_subcommand call" -l timeout -d 'How long to wait for the result, in seconds [default: 60, and for as long as a person is asked about the call]' -r
complete -c oz0 -n "__fish_oz0_using_subcommand call" -l color -d 'When to colour what is printed [variable: `OZ0_COLOR`] [default: auto]' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c oz0 -n "__fish_oz0_using_subcommand call" -l cache -d 'Where locked environments are kept [variable: `OZ0_CACHE`] [default: ~/.cache/oz0]' -r -f -a "(__fish_complete_directories)"
complete -c oz0 -n "__fish_oz0_using_subcommand call" -l data -d 'Where plugins, approvals and tokens are kept, and the edge\'s socket [variable: `OZ0_DATA`] [default: ~/.local/share/oz0]' -r -f -a "(__fish_complete_directories)"
complete -c oz0 -n "__fish_oz0_using_subcommand call" -l edge -d 'The edge to speak to, instead of the one of the data folder [variable: `OZ0_EDGE`]' -r -f
complete -c oz0 -n "__fish_oz0_using_subcommand call" -l json -d 'Print the server\'s result as it came, in JSON'
complete -c oz0 -n "__fish_oz0_using_subcommand call" -s q -l quiet -d 'Say only what went wrong, and the result'
complete -c oz0 -n "__fish_oz0_using_subcommand call" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c oz0 -n "__fish_oz0_using_subcommand call" -s V -l version -d 'Print version'
complete -c oz0 -n "__fish_oz0_using_subcommand policy; and not __fish_seen_subcommand_from list set unset help" -l color -d 'When to colour what is printed [variable: `OZ0_COLOR`] [default: auto]' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c oz0 -n "__fish_oz0_using_subcommand policy; and not __fish_seen_subcommand_from list set unset help" -l cache -d 'Where locked environments are kept [variable: `OZ0_CACHE`] [default: ~/.cache/oz0]' -r -f -a "(__fish_complete_directories)"
complete -c oz0 -n "__fish_oz0_using_subcommand policy; and not __fish_seen_subcommand_from list set unset help" -l data -d 'Where plugins, approvals and tokens are kept, and the edge\'s socket [variable: `OZ0_DATA`] [default: ~/.local/share/oz0]' -r -f -a "(__fish_complete_directories)"
complete -c oz0 -n "__fish_oz0_using_subcommand policy; and not __fish_seen_subcommand_from list set unset help" -l edge -d 'The edge to speak to, instead of the one of the data folder [variable: `OZ0_EDGE`]' -r -f
complete -c oz0 -n "__fish_oz0_using_subcommand policy; and not __fish_seen_subcommand_from list set unset help" -s q -l quiet -d 'Say only what went wrong, and the result'
complete -c oz0 -n "__fish_oz0_using_subcommand policy; and not __fish_seen_subcommand_from list set unset help" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c oz0 -n "__fish_oz0_using_subcommand policy; and not __fish_seen_subcommand_from list set unset help" -s V -l version -d 'Print version'
complete -c oz0 -n "__fish_oz0_using_subcommand policy; and not __fish_seen_subcommand_from list set unset help" -f -a "list" -d 'Show the rules, in the order in which they count'
complete -c oz0 -n "__fish_oz0_using_subcommand policy; and not __fish_seen_subcommand_from list set unset help" -f -a "set" -d 'Say what happens to the calls of some functions'
complete -c oz0 -n "__fish_oz0_using_subcommand policy; and not __fish_seen_subcommand_from list set unset help" -f -a "unset" -d 'Take a rule away'
complete -c oz0 -n "__fish_oz0_using_subcommand policy; and not __fish_seen_subcommand_from list set unset help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c oz0 -n "__fish_oz0_using_subcommand policy; and __fish_seen_subcommand_from list" -l color -d 'When to colour what is printed [variable: `OZ0_COLOR`] [default: auto]' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c oz0 -n "__fish_oz0_using_subcommand policy; and __fish_seen_subcommand_from list" -l cache -d 'Where locked environments are kept [variable: `OZ0_CACHE`] [default: ~/.cache/oz0]' -r -f -a "(__fish_complete_directories)"
complete -c oz0 -n "__fish_oz0_using_subcommand policy; and __fish_seen_subcommand_from list" -l data -d 'Where plugins, approvals and tokens are kept, and the edge\'s socket [variable: `OZ0_DATA`] [default: ~/.local/share/oz0]' -r -f -a "(__fish_complete_directories)"
complete -c oz0 -n "__fish_oz0_using_subcommand policy; and __fish_seen_subcommand_from list" -l edge -d 'The edge to speak to, instead of the one of the data folder [variable: `OZ0_EDGE`]' -r -f
complete -c oz0 -n "__fish_oz0_using_subcommand policy; and __fish_seen_subcommand_from list" -l json -d 'Print them as JSON'
complete -c oz0 -n "__fish_oz0_using_subcommand policy; and __fish_seen_subcommand_from list" -s q -l quiet -d 'Say only what went wrong, and the result'
complete -c oz0 -n "__fish_oz0_using_subcommand policy; and __fish_seen_subcommand_from list" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c oz0 -n "__fish_oz0_using_subcommand policy; and __fish_seen_subcommand_from list" -s V -l version -d 'Print version'
complete -c oz0 -n "__fish_oz0_using_subcommand policy; and __fish_seen_subcommand_from set" -l reason -d 'Why, for people and for whoever is refused' -r
complete -c oz0 -n "__fish_oz0_using_subcommand policy; and __fish_seen_subcommand_from set" -l when -d 'Only for some arguments: a JSON object of JSON pointers and the JSON Schemas that must all hold there' -r
complete -c oz0 -n "__fish_oz0_using_subcommand policy; and __fish_seen_subcommand_from set" -l before -d 'Where it stands: before the rule with this ID, or `first`' -r
complete -c oz0 -n "__fish_oz0_using_subcommand policy; and __fish_seen_subcommand_from set" -l color -d 'When to colour what is printed [variable: `OZ0_COLOR`] [default: auto]' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c oz0 -n "__fish_oz0_using_subcommand policy; and __fish_seen_subcommand_from set" -l cache -d 'Where locked environments are kept [variable: `OZ0_CACHE`] [default: ~/.cache/oz0]' -r -f -a "(__fish_complete_directories)"
complete -c oz0 -n "__fish_oz0_using_subcommand policy; and __fish_seen_subcommand_from set" -l data -d 'Where plugins, approvals and tokens are kept, and the edge\'s socket [variable: `OZ0_DATA`] [default: ~/.local/share/oz0]' -r -f -a "(__fish_complete_directories)"
complete -c oz0 -n "__fish_oz0_using_subcommand policy; and __fish_seen_subcommand_from set" -l edge -d 'The edge to speak to, instead of the one of the data folder [variable: `OZ0_EDGE`]' -r -f
complete -c oz0 -n "__fish_oz0_using_subcommand policy; and __fish_seen_subcommand_from set" -s q -l quiet -d 'Say only what went wrong, and the result'
complete -c oz0 -n "__fish_oz0_using_subcommand policy; and __fish_seen_subcommand_from set" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c oz0 -n "__fish_oz0_using_subcommand policy; and __fish_seen_subcommand_from set" -s V -l version -d 'Print version'
complete -c oz0 -n "__fish_oz0_using_subcommand policy; and __fish_seen_subcommand_from unset" -l color -d 'When to colour what is printed [variable: `OZ0_COLOR`] [default: auto]' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c oz0 -n "__fish_oz0_using_subcommand policy; and __fish_seen_subcommand_from unset" -l cache -d 'Where locked environments are kept [variable: `OZ0_CACHE`] [default: ~/.cache/oz0]' -r -f -a "(__fish_complete_directories)"
complete -c oz0 -n "__fish_oz0_using_subcommand policy; and __fish_seen_subcommand_from unset" -l data -d 'Where plugins, approvals and tokens are kept, and the edge\'s socket [variable: `OZ0_DATA`] [default: ~/.local/share/oz0]' -r -f -a "(__fish_complete_directories)"
complete -c oz0 -n "__fish_oz0_using_subcommand policy; and __fish_seen_subcommand_from unset" -l edge -d 'The edge to speak to, instead of the one of the data folder [variable: `OZ0_EDGE`]' -r -f
complete -c oz0 -n "__fish_oz0_using_subcommand policy; and __fish_seen_subcommand_from unset" -s q -l quiet -d 'Say only what went wrong, and the result'
complete -c oz0 -n "__fish_oz0_using_subcommand policy; and __fish_seen_subcommand_from unset" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c oz0 -n "__fish_oz0_using_subcommand policy; and __fish_seen_subcommand_from unset" -s V -l version -d 'Print version'
complete -c oz0 -n "__fish_oz0_using_subcommand policy; and __fish_seen_subcommand_from help" -f -a "list" -d 'Show the rules, in the order in which they count'
complete -c oz0 -n "__fish_oz0_using_subcommand policy; and __fish_seen_subcommand_from help" -f -a "set" -d 'Say what happens to the calls of some functions'
complete -c oz0 -n "__fish_oz0_using_subcommand policy; and __fish_seen_subcommand_from help" -f -a "unset" -d 'Take a rule away'
complete -c oz0 -n "__fish_oz0_using_subcommand policy; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c oz0 -n "__fish_oz0_using_subcommand approvals; and not __fish_seen_subcommand_from list approve deny help" -l color -d 'When to colour what is printed [variable: `OZ0_COLOR`] [default: auto]' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c oz0 -n "__fish_oz0_using_subcommand approvals; and not __fish_seen_subcommand_from list approve deny help" -l cache -d 'Where locked environments are kept [variable: `OZ0_CACHE`] [default: ~/.cache/oz0]' -r -f -a "(__fish_complete_directories)"
complete -c oz0 -n "__fish_oz0_using_subcommand approvals; and not __fish_seen_subcommand_from list approve deny help" -l data -d 'Where plugins, approvals and tokens are kept, and the edge\'s socket [variable: `OZ0_DATA`] [default: ~/.local/share/oz0]' -r -f -a "(__fish_complete_directories)"
complete -c oz0 -n "__fish_oz0_using_subcommand approvals; and not __fish_seen_subcommand_from list approve deny help" -l edge -d 'The edge to speak to, instead of the one of the data folder [variable: `OZ0_EDGE`]' -r -f
complete -c oz0 -n "__fish_oz0_using_subcommand approvals; and not __fish_seen_subcommand_from list approve deny help" -s q -l quiet -d 'Say only what went wrong, and the result'
complete -c oz0 -n "__fish_oz0_using_subcommand approvals; and not __fish_seen_subcommand_from list approve deny help" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c oz0 -n "__fish_oz0_using_subcommand approvals; and not __fish_seen_subcommand_from list approve deny help" -s V -l version -d 'Print version'
complete -c oz0 -n "__fish_oz0_using_subcommand approvals; and not __fish_seen_subcommand_from list approve deny help" -f -a "list" -d 'Show the calls that wait for a person, with their arguments'
complete -c oz0 -n "__fish_oz0_using_subcommand approvals; and not __fish_seen_subcommand_from list approve deny help" -f -a "approve" -d 'Let one call through that waits, this once'
complete -c oz0 -n "__fish_oz0_using_subcommand approvals; and not __fish_seen_subcommand_from list approve deny help" -f -a "deny" -d 'Refuse one call that waits'
complete -c oz0 -n "__fish_oz0_using_subcommand approvals; and not __fish_seen_subcommand_from list approve deny help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c oz0 -n "__fish_oz0_using_subcommand approvals; and __fish_seen_subcommand_from list" -l color -d 'When to colour what is printed [variable: `OZ0_COLOR`] [default: auto]' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c oz0 -n "__fish_oz0_using_subcommand approvals; and __fish_seen_subcommand_from list" -l cache -d 'Where locked environments are kept [variable: `OZ0_CACHE`] [default: ~/.cache/oz0]' -r -f -a "(__fish_complete_directories)"
complete -c oz0 -n "__fish_oz0_using_subcommand approvals; and __fish_seen_subcommand_from list" -l data -d 'Where plugins, approvals and tokens are kept, and the edge\'s socket [variable: `OZ0_DATA`] [default: ~/.local/share/oz0]' -r -f -a "(__fish_complete_directories)"
complete -c oz0 -n "__fish_oz0_using_subcommand approvals; and __fish_seen_subcommand_from list" -l edge -d 'The edge to speak to, instead of the one of the data folder [variable: `OZ0_EDGE`]' -r -f
complete -c oz0 -n "__fish_oz0_using_subcommand approvals; and __fish_seen_subcommand_from list" -l json -d 'Print them as JSON'
complete -c oz0 -n "__fish_oz0_using_subcommand approvals; and __fish_seen_subcommand_from list" -s q -l quiet -d 'Say only what went wrong, and the result'
complete -c oz0 -n "__fish_oz0_using_subcommand approvals; and __fish_seen_subcommand_from list" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c oz0 -n "__fish_oz0_using_subcommand approvals; and __fish_seen_subcommand_from list" -s V -l version -d 'Print version'
complete -c oz0 -n "__fish_oz0_using_subcommand approvals; and __fish_seen_subcommand_from approve" -l reason -d 'Why; whoever called is told where it is denied' -r
complete -c oz0 -n "__fish_oz0_using_subcommand approvals; and __fish_seen_subcommand_from approve" -l color -d 'When to colour what is printed [variable: `OZ0_COLOR`] [default: auto]' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c oz0 -n "__fish_oz0_using_subcommand approvals; and __fish_seen_subcommand_from approve" -l cache -d 'Where locked environments are kept [variable: `OZ0_CACHE`] [default: ~/.cache/oz0]' -r -f -a "(__fish_complete_directories)"
complete -c oz0 -n "__fish_oz0_using_subcommand approvals; and __fish_seen_subcommand_from approve" -l data -d 'Where plugins, approvals and tokens are kept, and the edge\'s socket [variable: `OZ0_DATA`] [default: ~/.local/share/oz0]' -r -f -a "(__fish_complete_directories)"
complete -c oz0 -n "__fish_oz0_using_subcommand approvals; and __fish_seen_subcommand_from approve" -l edge -d 'The edge to speak to, instead of the one of the data folder [variable: `OZ0_EDGE`]' -r -f
complete -c oz0 -n "__fish_oz0_using_subcommand approvals; and __fish_seen_subcommand_from approve" -s y -l yes -d 'Do not ask'
complete -c oz0 -n "__fish_oz0_using_subcommand approvals; and __fish_seen_subcommand_from approve" -s q -l quiet -d 'Say only what went wrong, and the result'
complete -c oz0 -n "__fish_oz0_using_subcommand approvals; and __fish_seen_subcommand_from approve" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c oz0 -n "__fish_oz0_using_subcommand approvals; and __fish_seen_subcommand_from approve" -s V -l version -d 'Print version'
complete -c oz0 -n "__fish_oz0_using_subcommand approvals; and __fish_seen_subcommand_from deny" -l reason -d 'Why; whoever called is told where it is denied' -r
complete -c oz0 -n "__fish_oz0_using_subcommand approvals; and __fish_seen_subcommand_from deny" -l color -d 'When to colour what is printed [variable: `OZ0_COLOR`] [default: auto]' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c oz0 -n "__fish_oz0_using_subcommand approvals; and __fish_seen_subcommand_from deny" -l cache -d 'Where locked environments are kept [variable: `OZ0_CACHE`] [default: ~/.cache/oz0]' -r -f -a "(__fish_complete_directories)"
complete -c oz0 -n "__fish_oz0_using_subcommand approvals; and __fish_seen_subcommand_from deny" -l data -d 'Where plugins, approvals and tokens are kept, and the edge\'s socket [variable: `OZ0_DATA`] [default: ~/.local/share/oz0]' -r -f -a "(__fish_complete_directories)"
complete -c oz0 -n "__fish_oz0_using_subcommand approvals; and __fish_seen_subcommand_from deny" -l edge -d 'The edge to speak to, instead of the one of the data folder [variable: `OZ0_EDGE`]' -r -f
complete -c oz0 -n "__fish_oz0_using_subcommand approvals; and __fish_seen_subcommand_from deny" -s y -l yes -d 'Do not ask'
complete -c oz0 -n "__fish_oz0_using_subcommand approvals; and __fish_seen_subcommand_from deny" -s q -l quiet -d 'Say only what went wrong, and the result'
complete -c oz0 -n "__fish_oz0_using_subcommand approvals; and __fish_seen_subcommand_from deny" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c oz0 -n "__fish_oz0_using_subcommand approvals; and __fish_seen_subcommand_from deny" -s V -l version -d 'Print version'
complete -c oz0 -n "__fish_oz0_using_subcommand approvals; and __fish_seen_subcommand_from help" -f -a "list" -d 'Show the calls that wait for a person, with their arguments'
complete -c oz0 -n "__fish_oz0_using_subcommand approvals; and __fish_seen_subcommand_from help" -f -a "approve" -d 'Let one call through that waits, this once'
complete -c oz0 -n "__fish_oz0_using_subcommand approvals; and __fish_seen_subcommand_from help" -f -a "deny" -d 'Refuse one call that waits'
complete -c oz0 -n "__fish_oz0_using_subcommand approvals; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c oz0 -n "__fish_oz0_using_subcommand secret; and not __fish_seen_subcommand_from set list unset help" -l color -d 'When to colour what is printed [variable: `OZ0_COLOR`] [default: auto]' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c oz0 -n "__fish_oz0_using_subcommand secret; and not __fish_seen_subcommand_from set list unset help" -l cache -d 'Where locked environments are kept [variable: `OZ0_CACHE`] [default: ~/.cache/oz0]' -r -f -a "(__fish_complete_directories)"
complete -c oz0 -n "__fish_oz0_using_subcommand secret; and not __fish_seen_subcommand_from set list unset help" -l data -d 'Where plugins, approvals and tokens are kept, and the edge\'s socket [variable: `OZ0_DATA`] [default: ~/.local/share/oz0]' -r -f -a "(__fish_complete_directories)"
complete -c oz0 -n "__fish_oz0_using_subcommand secret; and not __fish_seen_subcommand_from set list unset help" -l edge -d 'The edge to speak to, instead of the one of the data folder [variable: `OZ0_EDGE`]' -r -f
complete -c oz0 -n "__fish_oz0_using_subcommand secret; and not __fish_seen_subcommand_from set list unset help" -s q -l quiet -d 'Say only what went wrong, and the result'
complete -c oz0 -n "__fish_oz0_using_subcommand secret; and not __fish_seen_subcommand_from set list unset help" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c oz0 -n "__fish_oz0_using_subcommand secret; and not __fish_seen_subcommand_from set list unset help" -s V -l version -d 'Print version'
complete -c oz0 -n "__fish_oz0_using_subcommand secret; and not __fish_seen_subcommand_from set list unset help" -f -a "set" -d 'Keep the value of a secret that a plugin declares'
complete -c oz0 -n "__fish_oz0_using_subcommand secret; and not __fish_seen_subcommand_from set list unset help" -f -a "list" -d 'Show which secrets plugins declare, and which of them are set'
complete -c oz0 -n "__fish_oz0_using_subcommand secret; and not __fish_seen_subcommand_from set list unset help" -f -a "unset" -d 'Forget the value of a secret'
complete -c oz0 -n "__fish_oz0_using_subcommand secret; and not __fish_seen_subcommand_from set list unset help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c oz0 -n "__fish_oz0_using_subcommand secret; and __fish_seen_subcommand_from set" -l color -d 'When to colour what is printed [variable: `OZ0_COLOR`] [default: auto]' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c oz0 -n "__fish_oz0_using_subcommand secret; and __fish_seen_subcommand_from set" -l cache -d 'Where locked environments are kept [variable: `OZ0_CACHE`] [default: ~/.cache/oz0]' -r -f -a "(__fish_complete_directories)"
complete -c oz0 -n "__fish_oz0_using_subcommand secret; and __fish_seen_subcommand_from set" -l data -d 'Where plugins, approvals and tokens are kept, and the edge\'s socket [variable: `OZ0_DATA`] [default: ~/.local/share/oz0]' -r -f -a "(__fish_complete_directories)"
complete -c oz0 -n "__fish_oz0_using_subcommand secret; and __fish_seen_subcommand_from set" -l edge -d 'The edge to speak to, instead of the one of the data folder [variable: `OZ0_EDGE`]' -r -f
complete -c oz0 -n "__fish_oz0_using_subcommand secret; and __fish_seen_subcommand_from set" -s q -l quiet -d 'Say only what went wrong, and the result'
complete -c oz0 -n "__fish_oz0_using_subcommand secret; and __fish_seen_subcommand_from set" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c oz0 -n "__fish_oz0_using_subcommand secret; and __fish_seen_subcommand_from set" -s V -l version -d 'Print version'
complete -c oz0 -n "__fish_oz0_using_subcommand secret; and __fish_seen_subcommand_from list" -l color -d 'When to colour what is printed [variable: `OZ0_COLOR`] [default: auto]' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c oz0 -n "__fish_oz0_using_subcommand secret; and __fish_seen_subcommand_from list" -l cache -d 'Where locked environments are kept [variable: `OZ0_CACHE`] [default: ~/.cache/oz0]' -r -f -a "(__fish_complete_directories)"
complete -c oz0 -n "__fish_oz0_using_subcommand secret; and __fish_seen_subcommand_from list" -l data -d 'Where plugins, approvals and tokens are kept, and the edge\'s socket [variable: `OZ0_DATA`] [default: ~/.local/share/oz0]' -r -f -a "(__fish_complete_directories)"
complete -c oz0 -n "__fish_oz0_using_subcommand secret; and __fish_seen_subcommand_from list" -l edge -d 'The edge to speak to, instead of the one of the data folder [variable: `OZ0_EDGE`]' -r -f
complete -c oz0 -n "__fish_oz0_using_subcommand secret; and __fish_seen_subcommand_from list" -l json -d 'Print them as JSON'
complete -c oz0 -n "__fish_oz0_using_subcommand secret; and __fish_seen_subcommand_from list" -s q -l quiet -d 'Say only what went wrong, and the result'
complete -c oz0 -n "__fish_oz0_using_subcommand secret; and __fish_seen_subcommand_from list" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c oz0 -n "__fish_oz0_using_subcommand secret; and __fish_seen_subcommand_from list" -s V -l version -d 'Print version'
complete -c oz0 -n "__fish_oz0_using_subcommand secret; and __fish_seen_subcommand_from unset" -l color -d 'When to colour what is printed [variable: `OZ0_COLOR`] [default: auto]' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c oz0 -n "__fish_oz0_using_subcommand secret; and __fish_seen_subcommand_from unset" -l cache -d 'Where locked environments are kept [variable: `OZ0_CACHE`] [default: ~/.cache/oz0]' -r -f -a "(__fish_complete_directories)"
complete -c oz0 -n "__fish_oz0_using_subcommand secret; and __fish_seen_subcommand_from unset" -l data -d 'Where plugins, approvals and tokens are kept, and the edge\'s socket [variable: `OZ0_DATA`] [default: ~/.local/share/oz0]' -r -f -a "(__fish_complete_directories)"
complete -c oz0 -n "__fish_oz0_using_subcommand secret; and __fish_seen_subcommand_from unset" -l edge -d 'The edge to speak to, instead of the one of the data folder [variable: `OZ0_EDGE`]' -r -f
complete -c oz0 -n "__fish_oz0_using_subcommand secret; and __fish_seen_subcommand_from unset" -s q -l quiet -d 'Say only what went wrong, and the result'
complete -c oz0 -n "__fish_oz0_using_subcommand secret; and __fish_seen_subcommand_from unset" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c oz0 -n "__fish_oz0_using_subcommand secret; and __fish_seen_subcommand_from unset" -s V -l version -d 'Print version'
complete -c oz0 -n "__fish_oz0_using_subcommand secret; and __fish_seen_subcommand_from help" -f -a "set" -d 'Keep the value of a secret that a plugin declares'
complete -c oz0 -n "__fish_oz0_using_subcommand secret; and __fish_seen_subcommand_from help" -f -a "list" -d 'Show which secrets plugins declare, and which of them are set'
complete -c oz0 -n "__fish_oz0_using_subcommand secret; and __fish_seen_subcommand_from help" -f -a "unset" -d 'Forget the value of a secret'
complete -c oz0 -n "__fish_oz0_using_subcommand secret; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c oz0 -n "__fish_oz0_using_subcommand connection; and not __fish_seen_subcommand_from connect list disconnect help" -l color -d 'When to colour what is printed [variable: `OZ0_COLOR`] [default: auto]' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c oz0 -n "__fish_oz0_using_subcommand connection; and not __fish_seen_subcommand_from connect list disconnect help" -l cache -d 'Where locked environments are kept [variable: `OZ0_CACHE`] [default: ~/.cache/oz0]' -r -f -a "(__fish_complete_directories)"
complete -c oz0 -n "__fish_oz0_using_subcommand connection; and not __fish_seen_subcommand_from connect list disconnect help" -l data -d 'Where plugins, approvals and tokens are kept, and the edge\'s socket [variable: `OZ0_DATA`] [default: ~/.local/share/oz0]' -r -f -a "(__fish_complete_directories)"
complete -c oz0 -n "__fish_oz0_using_subcommand connection; and not __fish_seen_subcommand_from connect list disconnect help" -l edge -d 'The edge to speak to, instead of the one of the data folder [variable: `OZ0_EDGE`]' -r -f
complete -c oz0 -n "__fish_oz0_using_subcommand connection; and not __fish_seen_subcommand_from connect list disconnect help" -s q -l quiet -d 'Say only what went wrong, and the result'
complete -c oz0 -n "__fish_oz0_using_subcommand connection; and not __fish_seen_subcommand_from connect list disconnect help" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c oz0 -n "__fish_oz0_using_subcommand connection; and not __fish_seen_subcommand_from connect list disconnect help" -s V -l version -d 'Print version'
complete -c oz0 -n "__fish_oz0_using_subcommand connection; and not __fish_seen_subcommand_from connect list disconnect help" -f -a "connect" -d 'Connect a plugin\'s connection to your account at its system'
complete -c oz0 -n "__fish_oz0_using_subcommand connection; and not __fish_seen_subcommand_from connect list disconnect help" -f -a "list" -d 'Show the connections, and what they are connected with'
complete -c oz0 -n "__fish_oz0_using_subcommand connection; and not __fish_seen_subcommand_from connect list disconnect help" -f -a "disconnect" -d 'Forget what a connection is connected with, and have its tokens revoked'
complete -c oz0 -n "__fish_oz0_using_subcommand connection; and not __fish_seen_subcommand_from connect list disconnect help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c oz0 -n "__fish_oz0_using_subcommand connection; and __fish_seen_subcommand_from connect" -l param -d 'The value of a param (repeatable); one that is left out has the manifest\'s default' -r
complete -c oz0 -n "__fish_oz0_using_subcommand connection; and __fish_seen_subcommand_from connect" -l issuer -d 'The authorization server\'s issuer, where the plugin\'s remote server does not name it' -r -f
complete -c oz0 -n "__fish_oz0_using_subcommand connection; and __fish_seen_subcommand_from connect" -l authorize-url -d 'Where people authorize, of an authorization server without metadata' -r -f
complete -c oz0 -n "__fish_oz0_using_subcommand connection; and __fish_seen_subcommand_from connect" -l token-url -d 'Where tokens are made, of an authorization server without metadata' -r -f
complete -c oz0 -n "__fish_oz0_using_subcommand connection; and __fish_seen_subcommand_from connect" -l revoke-url -d 'Where tokens are revoked, of an authorization server without metadata' -r -f
complete -c oz0 -n "__fish_oz0_using_subcommand connection; and __fish_seen_subcommand_from connect" -l client-id -d 'The client that was registered for oz0 there; without it, oz0 registers one where that is offered' -r
complete -c oz0 -n "__fish_oz0_using_subcommand connection; and __fish_seen_subcommand_from connect" -l client-auth -d 'How the client shows its secret [default: what the server says, else basic]' -r -f -a "basic\t'In the header `Authorization`'
post\t'In the request\'s body'"
complete -c oz0 -n "__fish_oz0_using_subcommand connection; and __fish_seen_subcommand_from connect" -l scope -d 'A scope to ask for (repeatable); without it, those that the manifest names' -r
complete -c oz0 -n "__fish_oz0_using_subcommand connection; and __fish_seen_subcommand_from connect" -l redirect-port -d 'The port of this machine that the browser comes back to, where the client was registered with one' -r
complete -c oz0 -n "__fish_oz0_using_subcommand connection; and __fish_seen_subcommand_from connect" -l color -d 'When to colour what is printed [variable: `OZ0_COLOR`] [default: auto]' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c oz0 -n "__fish_oz0_using_subcommand connection; and __fish_seen_subcommand_from connect" -l cache -d 'Where locked environments are kept [variable: `OZ0_CACHE`] [default: ~/.cache/oz0]' -r -f -a "(__fish_complete_directories)"
complete -c oz0 -n "__fish_oz0_using_subcommand connection; and __fish_seen_subcommand_from connect" -l data -d 'Where plugins, approvals and tokens are kept, and the edge\'s socket [variable: `OZ0_DATA`] [default: ~/.local/share/oz0]' -r -f -a "(__fish_complete_directories)"
complete -c oz0 -n "__fish_oz0_using_subcommand connection; and __fish_seen_subcommand_from connect" -l edge -d 'The edge to speak to, instead of the one of the data folder [variable: `OZ0_EDGE`]' -r -f
complete -c oz0 -n "__fish_oz0_using_subcommand connection; and __fish_seen_subcommand_from connect" -l oauth -d 'Authorize oz0 in a browser, instead of giving secrets'
complete -c oz0 -n "__fish_oz0_using_subcommand connection; and __fish_seen_subcommand_from connect" -l client-credentials -d 'Have a token made for a client of the system, without a person'
complete -c oz0 -n "__fish_oz0_using_subcommand connection; and __fish_seen_subcommand_from connect" -l client-secret -d 'Take the client\'s secret from standard input, or ask for it'
complete -c oz0 -n "__fish_oz0_using_subcommand connection; and __fish_seen_subcommand_from connect" -l no-browser -d 'Only print the address to open'
complete -c oz0 -n "__fish_oz0_using_subcommand connection; and __fish_seen_subcommand_from connect" -s q -l quiet -d 'Say only what went wrong, and the result'
complete -c oz0 -n "__fish_oz0_using_subcommand connection; and __fish_seen_subcommand_from connect" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c oz0 -n "__fish_oz0_using_subcommand connection; and __fish_seen_subcommand_from connect" -s V -l version -d 'Print version'
complete -c oz0 -n "__fish_oz0_using_subcommand connection; and __fish_seen_subcommand_from list" -l color -d 'When to colour what is printed [variable: `OZ0_COLOR`] [default: auto]' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c oz0 -n "__fish_oz0_using_subcommand connection; and __fish_seen_subcommand_from list" -l cache -d 'Where locked environments are kept [variable: `OZ0_CACHE`] [default: ~/.cache/oz0]' -r -f -a "(__fish_complete_directories)"
complete -c oz0 -n "__fish_oz0_using_subcommand connection; and __fish_seen_subcommand_from list" -l data -d 'Where plugins, approvals and tokens are kept, and the edge\'s socket [variable: `OZ0_DATA`] [default: ~/.local/share/oz0]' -r -f -a "(__fish_complete_directories)"
complete -c oz0 -n "__fish_oz0_using_subcommand connection; and __fish_seen_subcommand_from list" -l edge -d 'The edge to speak to, instead of the one of the data folder [variable: `OZ0_EDGE`]' -r -f
complete -c oz0 -n "__fish_oz0_using_subcommand connection; and __fish_seen_subcommand_from list" -l json -d 'Print them as JSON'
complete -c oz0 -n "__fish_oz0_using_subcommand connection; and __fish_seen_subcommand_from list" -s q -l quiet -d 'Say only what went wrong, and the result'
complete -c oz0 -n "__fish_oz0_using_subcommand connection; and __fish_seen_subcommand_from list" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c oz0 -n "__fish_oz0_using_subcommand connection; and __fish_seen_subcommand_from list" -s V -l version -d 'Print version'
complete -c oz0 -n "__fish_oz0_using_subcommand connection; and __fish_seen_subcommand_from disconnect" -l color -d 'When to colour what is printed [variable: `OZ0_COLOR`] [default: auto]' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c oz0 -n "__fish_oz0_using_subcommand connection; and __fish_seen_subcommand_from disconnect" -l cache -d 'Where locked environments are kept [variable: `OZ0_CACHE`] [default: ~/.cache/oz0]' -r -f -a "(__fish_complete_directories)"
complete -c oz0 -n "__fish_oz0_using_subcommand connection; and __fish_seen_subcommand_from disconnect" -l data -d 'Where plugins, approvals and tokens are kept, and the edge\'s socket [variable: `OZ0_DATA`] [default: ~/.local/share/oz0]' -r -f -a "(__fish_complete_directories)"
complete -c oz0 -n "__fish_oz0_using_subcommand connection; and __fish_seen_subcommand_from disconnect" -l edge -d 'The edge to speak to, instead of the one of the data folder [variable: `OZ0_EDGE`]' -r -f
complete -c oz0 -n "__fish_oz0_using_subcommand connection; and __fish_seen_subcommand_from disconnect" -s q -l quiet -d 'Say only what went wrong, and the result'
complete -c oz0 -n "__fish_oz0_using_subcommand connection; and __fish_seen_subcommand_from disconnect" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c oz0 -n "__fish_oz0_using_subcommand connection; and __fish_seen_subcommand_from disconnect" -s V -l version -d 'Print version'
complete -c oz0 -n "__fish_oz0_using_subcommand connection; and __fish_seen_subcommand_from help" -f -a "connect" -d 'Connect a plugin\'s connection to your account at its system'
complete -c oz0 -n "__fish_oz0_using_subcommand connection; and __fish_seen_subcommand_from help" -f -a "list" -d 'Show the connections, and what they are connected with'
complete -c oz0 -n "__fish_oz0_using_subcommand connection; and __fish_seen_subcommand_from help" -f -a "disconnect" -d 'Forget what a connection is connected with, and have its tokens revoked'
complete -c oz0 -n "__fish_oz0_using_subcommand connection; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c oz0 -n "__fish_oz0_using_subcommand audit; and not __fish_seen_subcommand_from verify help" -l plugin -d 'Only entries of this plugin' -r
complete -c oz0 -n "__fish_oz0_using_subcommand audit; and not __fish_seen_subcommand_from verify help" -l function -d 'Only entries about this function, such as `team.hello`' -r
complete -c oz0 -n "__fish_oz0_using_subcommand audit; and not __fish_seen_subcommand_from verify help" -l action -d 'Only these acts (repeatable): `plugin.tools.approve`, or `plugin.tools` for all that begin so' -r
complete -c oz0 -n "__fish_oz0_using_subcommand audit; and not __fish_seen_subcommand_from verify help" -l actor -d 'Only acts of this actor: `token:NAME`, `node:NAME`, `local` or `edge`' -r
complete -c oz0 -n "__fish_oz0_using_subcommand audit; and not __fish_seen_subcommand_from verify help" -l since -d 'Only entries since then: a span such as `2h`, or a time such as `2026-05-01T12:00:00Z`' -r
complete -c oz0 -n "__fish_oz0_using_subcommand audit; and not __fish_seen_subcommand_from verify help" -l after -d 'Only entries after this position, to go on where an earlier run ended' -r
complete -c oz0 -n "__fish_oz0_using_subcommand audit; and not __fish_seen_subcommand_from verify help" -s n -l last -d 'Only the last so many of them; with --follow, before what comes' -r
complete -c oz0 -n "__fish_oz0_using_subcommand audit; and not __fish_seen_subcommand_from verify help" -l color -d 'When to colour what is printed [variable: `OZ0_COLOR`] [default: auto]' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c oz0 -n "__fish_oz0_using_subcommand audit; and not __fish_seen_subcommand_from verify help" -l cache -d 'Where locked environments are kept [variable: `OZ0_CACHE`] [default: ~/.cache/oz0]' -r -f -a "(__fish_complete_directories)"
complete -c oz0 -n "__fish_oz0_using_subcommand audit; and not __fish_seen_subcommand_from verify help" -l data -d 'Where plugins, approvals and tokens are kept, and the edge\'s socket [variable: `OZ0_DATA`] [default: ~/.local/share/oz0]' -r -f -a "(__fish_complete_directories)"
complete -c oz0 -n "__fish_oz0_using_subcommand audit; and not __fish_seen_subcommand_from verify help" -l edge -d 'The edge to speak to, instead of the one of the data folder [variable: `OZ0_EDGE`]' -r -f
complete -c oz0 -n "__fish_oz0_using_subcommand audit; and not __fish_seen_subcommand_from verify help" -s f -l follow -d 'Go on with what is written from now on, until interrupted'
complete -c oz0 -n "__fish_oz0_using_subcommand audit; and not __fish_seen_subcommand_from verify help" -l json -d 'Print one JSON object a line'
complete -c oz0 -n "__fish_oz0_using_subcommand audit; and not __fish_seen_subcommand_from verify help" -s q -l quiet -d 'Say only what went wrong, and the result'
complete -c oz0 -n "__fish_oz0_using_subcommand audit; and not __fish_seen_subcommand_from verify help" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c oz0 -n "__fish_oz0_using_subcommand audit; and not __fish_seen_subcommand_from verify help" -s V -l version -d 'Print version'
complete -c oz0 -n "__fish_oz0_using_subcommand audit; and not __fish_seen_subcommand_from verify help" -f -a "verify" -d 'Check that no entry was edited, removed, inserted or moved'
complete -c oz0 -n "__fish_oz0_using_subcommand audit; and not __fish_seen_subcommand_from verify help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c oz0 -n "__fish_oz0_using_subcommand audit; and __fish_seen_subcommand_from verify" -l color -d 'When to colour what is printed [variable: `OZ0_COLOR`] [default: auto]' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c oz0 -n "__fish_oz0_using_subcommand audit; and __fish_seen_subcommand_from verify" -l cache -d 'Where locked environments are kept [variable: `OZ0_CACHE`] [default: ~/.cache/oz0]' -r -f -a "(__fish_complete_directories)"
complete -c oz0 -n "__fish_oz0_using_subcommand audit; and __fish_seen_subcommand_from verify" -l data -d 'Where plugins, approvals and tokens are kept, and the edge\'s socket [variable: `OZ0_DATA`] [default: ~/.local/share/oz0]' -r -f -a "(__fish_complete_directories)"
complete -c oz0 -n "__fish_oz0_using_subcommand audit; and __fish_seen_subcommand_from verify" -l edge -d 'The edge to speak to, instead of the one of the data folder [variable: `OZ0_EDGE`]' -r -f
complete -c oz0 -n "__fish_oz0_using_subcommand audit; and __fish_seen_subcommand_from verify" -l json -d 'Print chains and faults as JSON'
complete -c oz0 -n "__fish_oz0_using_subcommand audit; and __fish_seen_subcommand_from verify" -s q -l quiet -d 'Say only what went wrong, and the result'
complete -c oz0 -n "__fish_oz0_using_subcommand audit; and __fish_seen_subcommand_from verify" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c oz0 -n "__fish_oz0_using_subcommand audit; and __fish_seen_subcommand_from verify" -s V -l version -d 'Print version'
complete -c oz0 -n "__fish_oz0_using_subcommand audit; and __fish_seen_subcommand_from help" -f -a "verify" -d 'Check that no entry was edited, removed, inserted or moved'
complete -c oz0 -n "__fish_oz0_using_subcommand audit; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c oz0 -n "__fish_oz0_using_subcommand token; and not __fish_seen_subcommand_from create list revoke help" -l color -d 'When to colour what is printed [variable: `OZ0_COLOR`] [default: auto]' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c oz0 -n "__fish_oz0_using_subcommand token; and not __fish_seen_subcommand_from create list revoke help" -l cache -d 'Where locked environments are kept [variable: `OZ0_CACHE`] [default: ~/.cache/oz0]' -r -f -a "(__fish_complete_directories)"
complete -c oz0 -n "__fish_oz0_using_subcommand token; and not __fish_seen_subcommand_from create list revoke help" -l data -d 'Where plugins, approvals and tokens are kept, and the edge\'s socket [variable: `OZ0_DATA`] [default: ~/.local/share/oz0]' -r -f -a "(__fish_complete_directories)"
complete -c oz0 -n "__fish_oz0_using_subcommand token; and not __fish_seen_subcommand_from create list revoke help" -l edge -d 'The edge to speak to, instead of the one of the data folder [variable: `OZ0_EDGE`]' -r -f
complete -c oz0 -n "__fish_oz0_using_subcommand token; and not __fish_seen_subcommand_from create list revoke help" -s q -l quiet -d 'Say only what went wrong, and the result'
complete -c oz0 -n "__fish_oz0_using_subcommand token; and not __fish_seen_subcommand_from create list revoke help" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c oz0 -n "__fish_oz0_using_subcommand token; and not __fish_seen_subcommand_from create list revoke help" -s V -l version -d 'Print version'
complete -c oz0 -n "__fish_oz0_using_subcommand token; and not __fish_seen_subcommand_from create list revoke help" -f -a "create" -d 'Make a token, and print it: it is shown this once'
complete -c oz0 -n "__fish_oz0_using_subcommand token; and not __fish_seen_subcommand_from create list revoke help" -f -a "list" -d 'Show the tokens, revoked ones included; never their secrets'
complete -c oz0 -n "__fish_oz0_using_subcommand token; and not __fish_seen_subcommand_from create list revoke help" -f -a "revoke" -d 'Revoke a token: it stops working at once'
complete -c oz0 -n "__fish_oz0_using_subcommand token; and not __fish_seen_subcommand_from create list revoke help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c oz0 -n "__fish_oz0_using_subcommand token; and __fish_seen_subcommand_from create" -l client -d 'For an MCP client of this name: it calls functions, and nothing else' -r
complete -c oz0 -n "__fish_oz0_using_subcommand token; and __fish_seen_subcommand_from create" -l admin -d 'For a person of this name, who approves, installs and makes tokens' -r
complete -c oz0 -n "__fish_oz0_using_subcommand token; and __fish_seen_subcommand_from create" -l viewer -d 'For a person of this name, who reads what an admin reads, and does nothing' -r
complete -c oz0 -n "__fish_oz0_using_subcommand token; and __fish_seen_subcommand_from create" -l node -d 'For setting up a node of this name: it works once, within an hour, with `oz0 node join`; a node that has the name now is let go when it is used' -r
complete -c oz0 -n "__fish_oz0_using_subcommand token; and __fish_seen_subcommand_from create" -l color -d 'When to colour what is printed [variable: `OZ0_COLOR`] [default: auto]' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c oz0 -n "__fish_oz0_using_subcommand token; and __fish_seen_subcommand_from create" -l cache -d 'Where locked environments are kept [variable: `OZ0_CACHE`] [default: ~/.cache/oz0]' -r -f -a "(__fish_complete_directories)"
complete -c oz0 -n "__fish_oz0_using_subcommand token; and __fish_seen_subcommand_from create" -l data -d 'Where plugins, approvals and tokens are kept, and the edge\'s socket [variable: `OZ0_DATA`] [default: ~/.local/share/oz0]' -r -f -a "(__fish_complete_directories)"
complete -c oz0 -n "__fish_oz0_using_subcommand token; and __fish_seen_subcommand_from create" -l edge -d 'The edge to speak to, instead of the one of the data folder [variable: `OZ0_EDGE`]' -r -f
complete -c oz0 -n "__fish_oz0_using_subcommand token; and __fish_seen_subcommand_from create" -l may-approve -d 'Elicitation at this client may decide a call that is asked about'
complete -c oz0 -n "__fish_oz0_using_subcommand token; and __fish_seen_subcommand_from create" -l json -d 'Print the token with what is known of it as JSON'
complete -c oz0 -n "__fish_oz0_using_subcommand token; and __fish_seen_subcommand_from create" -s q -l quiet -d 'Say only what went wrong, and the result'
complete -c oz0 -n "__fish_oz0_using_subcommand token; and __fish_seen_subcommand_from create" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c oz0 -n "__fish_oz0_using_subcommand token; and __fish_seen_subcommand_from create" -s V -l version -d 'Print version'
complete -c oz0 -n "__fish_oz0_using_subcommand token; and __fish_seen_subcommand_from list" -l color -d 'When to colour what is printed [variable: `OZ0_COLOR`] [default: auto]' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c oz0 -n "__fish_oz0_using_subcommand token; and __fish_seen_subcommand_from list" -l cache -d 'Where locked environments are kept [variable: `OZ0_CACHE`] [default: ~/.cache/oz0]' -r -f -a "(__fish_complete_directories)"
complete -c oz0 -n "__fish_oz0_using_subcommand token; and __fish_seen_subcommand_from list" -l data -d 'Where plugins, approvals and tokens are kept, and the edge\'s socket [variable: `OZ0_DATA`] [default: ~/.local/share/oz0]' -r -f -a "(__fish_complete_directories)"
complete -c oz0 -n "__fish_oz0_using_subcommand token; and __fish_seen_subcommand_from list" -l edge -d 'The edge to speak to, instead of the one of the data folder [variable: `OZ0_EDGE`]' -r -f
complete -c oz0 -n "__fish_oz0_using_subcommand token; and __fish_seen_subcommand_from list" -l json -d 'Print them as JSON'
complete -c oz0 -n "__fish_oz0_using_subcommand token; and __fish_seen_subcommand_from list" -s q -l quiet -d 'Say only what went wrong, and the result'
complete -c oz0 -n "__fish_oz0_using_subcommand token; and __fish_seen_subcommand_from list" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c oz0 -n "__fish_oz0_using_subcommand token; and __fish_seen_subcommand_from list" -s V -l version -d 'Print version'
complete -c oz0 -n "__fish_oz0_using_subcommand token; and __fish_seen_subcommand_from revoke" -l color -d 'When to colour what is printed [variable: `OZ0_COLOR`] [default: auto]' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c oz0 -n "__fish_oz0_using_subcommand token; and __fish_seen_subcommand_from revoke" -l cache -d 'Where locked environments are kept [variable: `OZ0_CACHE`] [default: ~/.cache/oz0]' -r -f -a "(__fish_complete_directories)"
complete -c oz0 -n "__fish_oz0_using_subcommand token; and __fish_seen_subcommand_from revoke" -l data -d 'Where plugins, approvals and tokens are kept, and the edge\'s socket [variable: `OZ0_DATA`] [default: ~/.local/share/oz0]' -r -f -a "(__fish_complete_directories)"
complete -c oz0 -n "__fish_oz0_using_subcommand token; and __fish_seen_subcommand_from revoke" -l edge -d 'The edge to speak to, instead of the one of the data folder [variable: `OZ0_EDGE`]' -r -f
complete -c oz0 -n "__fish_oz0_using_subcommand token; and __fish_seen_subcommand_from revoke" -s q -l quiet -d 'Say only what went wrong, and the result'
complete -c oz0 -n "__fish_oz0_using_subcommand token; and __fish_seen_subcommand_from revoke" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c oz0 -n "__fish_oz0_using_subcommand token; and __fish_seen_subcommand_from revoke" -s V -l version -d 'Print version'
complete -c oz0 -n "__fish_oz0_using_subcommand token; and __fish_seen_subcommand_from help" -f -a "create" -d 'Make a token, and print it: it is shown this once'
complete -c oz0 -n "__fish_oz0_using_subcommand token; and __fish_seen_subcommand_from help" -f -a "list" -d 'Show the tokens, revoked ones included; never their secrets'
complete -c oz0 -n "__fish_oz0_using_subcommand token; and __fish_seen_subcommand_from help" -f -a "revoke" -d 'Revoke a token: it stops working at once'
complete -c oz0 -n "__fish_oz0_using_subcommand token; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c oz0 -n "__fish_oz0_using_subcommand login" -l color -d 'When to colour what is printed [variable: `OZ0_COLOR`] [default: auto]' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c oz0 -n "__fish_oz0_using_subcommand login" -l cache -d 'Where locked environments are kept [variable: `OZ0_CACHE`] [default: ~/.cache/oz0]' -r -f -a "(__fish_complete_directories)"
complete -c oz0 -n "__fish_oz0_using_subcommand login" -l data -d 'Where plugins, approvals and tokens are kept, and the edge\'s socket [variable: `OZ0_DATA`] [default: ~/.local/share/oz0]' -r -f -a "(__fish_complete_directories)"
complete -c oz0 -n "__fish_oz0_using_subcommand login" -l edge -d 'The edge to speak to, instead of the one of the data folder [variable: `OZ0_EDGE`]' -r -f
complete -c oz0 -n "__fish_oz0_using_subcommand login" -s q -l quiet -d 'Say only what went wrong, and the result'
complete -c oz0 -n "__fish_oz0_using_subcommand login" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c oz0 -n "__fish_oz0_using_subcommand login" -s V -l version -d 'Print version'
complete -c oz0 -n "__fish_oz0_using_subcommand node; and not __fish_seen_subcommand_from join list help" -l mcp-listen -d 'Where the MCP endpoint listens; port 0 picks a free one [variable: `OZ0_MCP_LISTEN`] [default: 127.0.0.1:7071]' -r
complete -c oz0 -n "__fish_oz0_using_subcommand node; and not __fish_seen_subcommand_from join list help" -l host -d 'Another name that this machine is reached by (repeatable); requests for other names are refused' -r
complete -c oz0 -n "__fish_oz0_using_subcommand node; and not __fish_seen_subcommand_from join list help" -l secret -d 'Give a secret its value from this environment, to each plugin that declares it when it is started (repeatable); to one plugin alone: PLUGIN=NAME' -r
complete -c oz0 -n "__fish_oz0_using_subcommand node; and not __fish_seen_subcommand_from join list help" -l share -d 'Let a plugin\'s servers read and write this folder, at the same path (repeatable); where several plugins run, say which: NAME=DIR' -r -f -a "(__fish_complete_directories)"
complete -c oz0 -n "__fish_oz0_using_subcommand node; and not __fish_seen_subcommand_from join list help" -l share-read -d 'Let a plugin\'s servers read this folder, at the same path (repeatable); NAME=DIR as with --share' -r -f -a "(__fish_complete_directories)"
complete -c oz0 -n "__fish_oz0_using_subcommand node; and not __fish_seen_subcommand_from join list help" -l verify-every -d 'How old a server\'s listing may be when a call relies on it, in seconds; 0 lists before each call [variable: `OZ0_VERIFY_EVERY`] [default: 2, and 30 for remote servers]' -r
complete -c oz0 -n "__fish_oz0_using_subcommand node; and not __fish_seen_subcommand_from join list help" -l validate -d 'What becomes of structured results that do not match the output schema [variable: `OZ0_VALIDATE`] [default: warn]' -r -f -a "off\t'Nothing is checked'
warn\t'They pass, and it is said'
refuse\t'They are refused'"
complete -c oz0 -n "__fish_oz0_using_subcommand node; and not __fish_seen_subcommand_from join list help" -l arguments -d 'Which arguments are let through [variable: `OZ0_ARGUMENTS`] [default: as-listed]' -r -f -a "as-listed\t'What the pinned input schema allows'
strict\t'Only what it names'"
complete -c oz0 -n "__fish_oz0_using_subcommand node; and not __fish_seen_subcommand_from join list help" -l edge-grace -d 'How long calls go on when the edge is lost, in seconds [variable: `OZ0_EDGE_GRACE`] [default: 3600]' -r
complete -c oz0 -n "__fish_oz0_using_subcommand node; and not __fish_seen_subcommand_from join list help" -l approval-timeout -d 'How long a call waits for a person who is asked about it, in seconds; a day at most [variable: `OZ0_APPROVAL_TIMEOUT`] [default: 600]' -r
complete -c oz0 -n "__fish_oz0_using_subcommand node; and not __fish_seen_subcommand_from join list help" -l ai-label -d 'The line put under text that a plugin marks as written for people by a machine [variable: `OZ0_AI_LABEL`] [default: [AI-generated]]' -r
complete -c oz0 -n "__fish_oz0_using_subcommand node; and not __fish_seen_subcommand_from join list help" -l metrics-listen -d 'Serve /metrics, /healthz and /readyz on a port of their own, to anyone who reaches it [variable: `OZ0_METRICS_LISTEN`] [default: none]' -r
complete -c oz0 -n "__fish_oz0_using_subcommand node; and not __fish_seen_subcommand_from join list help" -l log -d 'Log to standard error, in place of what is said there otherwise: a level, or directives such as `info,oz0::call=debug` [variable: `OZ0_LOG`] [default: off, and info where a format is given]' -r
complete -c oz0 -n "__fish_oz0_using_subcommand node; and not __fish_seen_subcommand_from join list help" -l log-format -d 'How the log is written; json is an object a line [variable: `OZ0_LOG_FORMAT`] [default: text]' -r -f -a "text\t'For people'
json\t'For programs'"
complete -c oz0 -n "__fish_oz0_using_subcommand node; and not __fish_seen_subcommand_from join list help" -l color -d 'When to colour what is printed [variable: `OZ0_COLOR`] [default: auto]' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c oz0 -n "__fish_oz0_using_subcommand node; and not __fish_seen_subcommand_from join list help" -l cache -d 'Where locked environments are kept [variable: `OZ0_CACHE`] [default: ~/.cache/oz0]' -r -f -a "(__fish_complete_directories)"
complete -c oz0 -n "__fish_oz0_using_subcommand node; and not __fish_seen_subcommand_from join list help" -l data -d 'Where plugins, approvals and tokens are kept, and the edge\'s socket [variable: `OZ0_DATA`] [default: ~/.local/share/oz0]' -r -f -a "(__fish_complete_directories)"
complete -c oz0 -n "__fish_oz0_using_subcommand node; and not __fish_seen_subcommand_from join list help" -l edge -d 'The edge to speak to, instead of the one of the data folder [variable: `OZ0_EDGE`]' -r -f
complete -c oz0 -n "__fish_oz0_using_subcommand node; and not __fish_seen_subcommand_from join list help" -l json -d 'Print the first line as JSON'
complete -c oz0 -n "__fish_oz0_using_subcommand node; and not __fish_seen_subcommand_from join list help" -s q -l quiet -d 'Say only what went wrong, and the result'
complete -c oz0 -n "__fish_oz0_using_subcommand node; and not __fish_seen_subcommand_from join list help" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c oz0 -n "__fish_oz0_using_subcommand node; and not __fish_seen_subcommand_from join list help" -s V -l version -d 'Print version'
complete -c oz0 -n "__fish_oz0_using_subcommand node; and not __fish_seen_subcommand_from join list help" -f -a "join" -d 'Join an edge, with a token that `oz0 token create --node NAME` printed'
complete -c oz0 -n "__fish_oz0_using_subcommand node; and not __fish_seen_subcommand_from join list help" -f -a "list" -d 'Show the nodes, and whether they are there now'
complete -c oz0 -n "__fish_oz0_using_subcommand node; and not __fish_seen_subcommand_from join list help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c oz0 -n "__fish_oz0_using_subcommand node; and __fish_seen_subcommand_from join" -l color -d 'When to colour what is printed [variable: `OZ0_COLOR`] [default: auto]' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c oz0 -n "__fish_oz0_using_subcommand node; and __fish_seen_subcommand_from join" -l cache -d 'Where locked environments are kept [variable: `OZ0_CACHE`] [default: ~/.cache/oz0]' -r -f -a "(__fish_complete_directories)"
complete -c oz0 -n "__fish_oz0_using_subcommand node; and __fish_seen_subcommand_from join" -l data -d 'Where plugins, approvals and tokens are kept, and the edge\'s socket [variable: `OZ0_DATA`] [default: ~/.local/share/oz0]' -r -f -a "(__fish_complete_directories)"
complete -c oz0 -n "__fish_oz0_using_subcommand node; and __fish_seen_subcommand_from join" -l edge -d 'The edge to speak to, instead of the one of the data folder [variable: `OZ0_EDGE`]' -r -f
complete -c oz0 -n "__fish_oz0_using_subcommand node; and __fish_seen_subcommand_from join" -s q -l quiet -d 'Say only what went wrong, and the result'
complete -c oz0 -n "__fish_oz0_using_subcommand node; and __fish_seen_subcommand_from join" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c oz0 -n "__fish_oz0_using_subcommand node; and __fish_seen_subcommand_from join" -s V -l version -d 'Print version'
complete -c oz0 -n "__fish_oz0_using_subcommand node; and __fish_seen_subcommand_from list" -l color -d 'When to colour what is printed [variable: `OZ0_COLOR`] [default: auto]' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c oz0 -n "__fish_oz0_using_subcommand node; and __fish_seen_subcommand_from list" -l cache -d 'Where locked environments are kept [variable: `OZ0_CACHE`] [default: ~/.cache/oz0]' -r -f -a "(__fish_complete_directories)"
complete -c oz0 -n "__fish_oz0_using_subcommand node; and __fish_seen_subcommand_from list" -l data -d 'Where plugins, approvals and tokens are kept, and the edge\'s socket [variable: `OZ0_DATA`] [default: ~/.local/share/oz0]' -r -f -a "(__fish_complete_directories)"
complete -c oz0 -n "__fish_oz0_using_subcommand node; and __fish_seen_subcommand_from list" -l edge -d 'The edge to speak to, instead of the one of the data folder [variable: `OZ0_EDGE`]' -r -f
complete -c oz0 -n "__fish_oz0_using_subcommand node; and __fish_seen_subcommand_from list" -l json -d 'Print them as JSON'
complete -c oz0 -n "__fish_oz0_using_subcommand node; and __fish_seen_subcommand_from list" -s q -l quiet -d 'Say only what went wrong, and the result'
complete -c oz0 -n "__fish_oz0_using_subcommand node; and __fish_seen_subcommand_from list" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c oz0 -n "__fish_oz0_using_subcommand node; and __fish_seen_subcommand_from list" -s V -l version -d 'Print version'
complete -c oz0 -n "__fish_oz0_using_subcommand node; and __fish_seen_subcommand_from help" -f -a "join" -d 'Join an edge, with a token that `oz0 token create --node NAME` printed'
complete -c oz0 -n "__fish_oz0_using_subcommand node; and __fish_seen_subcommand_from help" -f -a "list" -d 'Show the nodes, and whether they are there now'
complete -c oz0 -n "__fish_oz0_using_subcommand node; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c oz0 -n "__fish_oz0_using_subcommand completions" -l color -d 'When to colour what is printed [variable: `OZ0_COLOR`] [default: auto]' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set'
always\t'Always'
never\t'Never'"
complete -c oz0 -n "__fish_oz0_using_subcommand completions" -l cache -d 'Where locked environments are kept [variable: `OZ0_CACHE`] [default: ~/.cache/oz0]' -r -f -a "(__fish_complete_directories)"
complete -c oz0 -n "__fish_oz0_using_subcommand completions" -l data -d 'Where plugins, approvals and tokens are kept, and the edge\'s socket [variable: `OZ0_DATA`] [default: ~/.local/share/oz0]' -r -f -a "(__fish_complete_directories)"
complete -c oz0 -n "__fish_oz0_using_subcommand completions" -l edge -d 'The edge to speak to, instead of the one of the data folder [variable: `OZ0_EDGE`]' -r -f
complete -c oz0 -n "__fish_oz0_using_subcommand completions" -s q -l quiet -d 'Say only what went wrong, and the result'
complete -c oz0 -n "__fish_oz0_using_subcommand completions" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c oz0 -n "__fish_oz0_using_subcommand completions" -s V -l version -d 'Print version'
complete -c oz0 -n "__fish_oz0_using_subcommand help; and not __fish_seen_subcommand_from up mcp edge wrap plugin lsp catalog call policy approvals secret connection audit token login node completions help" -f -a "up" -d 'Run plugins, with an MCP endpoint for clients'
complete -c oz0 -n "__fish_oz0_using_subcommand help; and not __fish_seen_subcommand_from up mcp edge wrap plugin lsp catalog call policy approvals secret connection audit token login node completions help" -f -a "mcp" -d 'Run one plugin for the MCP client that starts this command, over its standard input and output'
complete -c oz0 -n "__fish_oz0_using_subcommand help; and not __fish_seen_subcommand_from up mcp edge wrap plugin lsp catalog call policy approvals secret connection audit token login node completions help" -f -a "edge" -d 'Run an edge: the control plane alone, for nodes on other machines'
complete -c oz0 -n "__fish_oz0_using_subcommand help; and not __fish_seen_subcommand_from up mcp edge wrap plugin lsp catalog call policy approvals secret connection audit token login node completions help" -f -a "wrap" -d 'Make a plugin\'s folder around a server that you use'
complete -c oz0 -n "__fish_oz0_using_subcommand help; and not __fish_seen_subcommand_from up mcp edge wrap plugin lsp catalog call policy approvals secret connection audit token login node completions help" -f -a "plugin" -d 'Measure plugins, look at them, and approve what changes in them'
complete -c oz0 -n "__fish_oz0_using_subcommand help; and not __fish_seen_subcommand_from up mcp edge wrap plugin lsp catalog call policy approvals secret connection audit token login node completions help" -f -a "lsp" -d 'Check plugins in an editor, as a language server on standard input and output'
complete -c oz0 -n "__fish_oz0_using_subcommand help; and not __fish_seen_subcommand_from up mcp edge wrap plugin lsp catalog call policy approvals secret connection audit token login node completions help" -f -a "catalog" -d 'Show every function as it was approved, and what waits beside it'
complete -c oz0 -n "__fish_oz0_using_subcommand help; and not __fish_seen_subcommand_from up mcp edge wrap plugin lsp catalog call policy approvals secret connection audit token login node completions help" -f -a "call" -d 'Call a function, as a client would'
complete -c oz0 -n "__fish_oz0_using_subcommand help; and not __fish_seen_subcommand_from up mcp edge wrap plugin lsp catalog call policy approvals secret connection audit token login node completions help" -f -a "policy" -d 'Say what may be called, what a person is asked about, and what is refused'
complete -c oz0 -n "__fish_oz0_using_subcommand help; and not __fish_seen_subcommand_from up mcp edge wrap plugin lsp catalog call policy approvals secret connection audit token login node completions help" -f -a "approvals" -d 'Look at the calls that wait for a person, and decide'
complete -c oz0 -n "__fish_oz0_using_subcommand help; and not __fish_seen_subcommand_from up mcp edge wrap plugin lsp catalog call policy approvals secret connection audit token login node completions help" -f -a "secret" -d 'Keep the secrets that plugins\' processes are given'
complete -c oz0 -n "__fish_oz0_using_subcommand help; and not __fish_seen_subcommand_from up mcp edge wrap plugin lsp catalog call policy approvals secret connection audit token login node completions help" -f -a "connection" -d 'Connect plugins to accounts at outside systems, whose tokens go with single calls'
complete -c oz0 -n "__fish_oz0_using_subcommand help; and not __fish_seen_subcommand_from up mcp edge wrap plugin lsp catalog call policy approvals secret connection audit token login node completions help" -f -a "audit" -d 'Read the audit log: who approved what, and when'
complete -c oz0 -n "__fish_oz0_using_subcommand help; and not __fish_seen_subcommand_from up mcp edge wrap plugin lsp catalog call policy approvals secret connection audit token login node completions help" -f -a "token" -d 'Make, list and revoke tokens'
complete -c oz0 -n "__fish_oz0_using_subcommand help; and not __fish_seen_subcommand_from up mcp edge wrap plugin lsp catalog call policy approvals secret connection audit token login node completions help" -f -a "login" -d 'Keep a token for an edge, so that commands use it'
complete -c oz0 -n "__fish_oz0_using_subcommand help; and not __fish_seen_subcommand_from up mcp edge wrap plugin lsp catalog call policy approvals secret connection audit token login node completions help" -f -a "node" -d 'Run a node, join an edge with it, or look at an edge\'s nodes'
complete -c oz0 -n "__fish_oz0_using_subcommand help; and not __fish_seen_subcommand_from up mcp edge wrap plugin lsp catalog call policy approvals secret connection audit token login node completions help" -f -a "completions" -d 'Print the completions of a shell'
complete -c oz0 -n "__fish_oz0_using_subcommand help; and not __fish_seen_subcommand_from up mcp edge wrap plugin lsp catalog call policy approvals secret connection audit token login node completions help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c oz0 -n "__fish_oz0_using_subcommand help; and __fish_seen_subcommand_from edge" -f -a "migrate" -d 'Bring a store\'s schema to what this oz0 reads'
complete -c oz0 -n "__fish_oz0_using_subcommand help; and __fish_seen_subcommand_from edge" -f -a "backup" -d 'Write the store and its bundles into a new file, also while an edge runs'
complete -c oz0 -n "__fish_oz0_using_subcommand help; and __fish_seen_subcommand_from edge" -f -a "restore" -d 'Bring a backup into a store that is not there yet'
complete -c oz0 -n "__fish_oz0_using_subcommand help; and __fish_seen_subcommand_from plugin" -f -a "new" -d 'Write a new plugin from a template'
complete -c oz0 -n "__fish_oz0_using_subcommand help; and __fish_seen_subcommand_from plugin" -f -a "test" -d 'Start a plugin\'s servers, and write what they list into tools.listing.json'
complete -c oz0 -n "__fish_oz0_using_subcommand help; and __fish_seen_subcommand_from plugin" -f -a "lint" -d 'Check a plugin against the house rules; runs nothing of it'
complete -c oz0 -n "__fish_oz0_using_subcommand help; and __fish_seen_subcommand_from plugin" -f -a "explain" -d 'Print a rule\'s page: what it finds, why, and what to do'
complete -c oz0 -n "__fish_oz0_using_subcommand help; and __fish_seen_subcommand_from plugin" -f -a "inspect" -d 'Show a plugin, a folder or a bundle, and its measured listing; runs nothing of it'
complete -c oz0 -n "__fish_oz0_using_subcommand help; and __fish_seen_subcommand_from plugin" -f -a "pack" -d 'Pack a plugin into one file, NAME-VERSION.oz0, for others to install'
complete -c oz0 -n "__fish_oz0_using_subcommand help; and __fish_seen_subcommand_from plugin" -f -a "install" -d 'Install a plugin, a folder or a bundle, on every node'
complete -c oz0 -n "__fish_oz0_using_subcommand help; and __fish_seen_subcommand_from plugin" -f -a "update" -d 'Run another version of an installed plugin, on every node or on some of them first'
complete -c oz0 -n "__fish_oz0_using_subcommand help; and __fish_seen_subcommand_from plugin" -f -a "promote" -d 'Run a plugin\'s candidate on every node'
complete -c oz0 -n "__fish_oz0_using_subcommand help; and __fish_seen_subcommand_from plugin" -f -a "rollback" -d 'Take a plugin\'s candidate back, or without one go back to the version before'
complete -c oz0 -n "__fish_oz0_using_subcommand help; and __fish_seen_subcommand_from plugin" -f -a "list" -d 'Show the installed plugins: what runs where, what waits for approval, what is left out, what failed'
complete -c oz0 -n "__fish_oz0_using_subcommand help; and __fish_seen_subcommand_from plugin" -f -a "approve-tools" -d 'Look at what changed in a plugin\'s tools, and approve it'
complete -c oz0 -n "__fish_oz0_using_subcommand help; and __fish_seen_subcommand_from plugin" -f -a "remove" -d 'Remove a plugin: nodes stop running it, and what was approved of it stays known'
complete -c oz0 -n "__fish_oz0_using_subcommand help; and __fish_seen_subcommand_from plugin" -f -a "schema" -d 'Print the JSON Schema of oz0-plugin.yaml'
complete -c oz0 -n "__fish_oz0_using_subcommand help; and __fish_seen_subcommand_from policy" -f -a "list" -d 'Show the rules, in the order in which they count'
complete -c oz0 -n "__fish_oz0_using_subcommand help; and __fish_seen_subcommand_from policy" -f -a "set" -d 'Say what happens to the calls of some functions'
complete -c oz0 -n "__fish_oz0_using_subcommand help; and __fish_seen_subcommand_from policy" -f -a "unset" -d 'Take a rule away'
complete -c oz0 -n "__fish_oz0_using_subcommand help; and __fish_seen_subcommand_from approvals" -f -a "list" -d 'Show the calls that wait for a person, with their arguments'
complete -c oz0 -n "__fish_oz0_using_subcommand help; and __fish_seen_subcommand_from approvals" -f -a "approve" -d 'Let one call through that waits, this once'
complete -c oz0 -n "__fish_oz0_using_subcommand help; and __fish_seen_subcommand_from approvals" -f -a "deny" -d 'Refuse one call that waits'
complete -c oz0 -n "__fish_oz0_using_subcommand help; and __fish_seen_subcommand_from secret" -f -a "set" -d 'Keep the value of a secret that a plugin declares'
complete -c oz0 -n "__fish_oz0_using_subcommand help; and __fish_seen_subcommand_from secret" -f -a "list" -d 'Show which secrets plugins declare, and which of them are set'
complete -c oz0 -n "__fish_oz0_using_subcommand help; and __fish_seen_subcommand_from secret" -f -a "unset" -d 'Forget the value of a secret'
complete -c oz0 -n "__fish_oz0_using_subcommand help; and __fish_seen_subcommand_from connection" -f -a "connect" -d 'Connect a plugin\'s connection to your account at its system'
complete -c oz0 -n "__fish_oz0_using_subcommand help; and __fish_seen_subcommand_from connection" -f -a "list" -d 'Show the connections, and what they are connected with'
complete -c oz0 -n "__fish_oz0_using_subcommand help; and __fish_seen_subcommand_from connection" -f -a "disconnect" -d 'Forget what a connection is connected with, and have its tokens revoked'
complete -c oz0 -n "__fish_oz0_using_subcommand help; and __fish_seen_subcommand_from audit" -f -a "verify" -d 'Check that no entry was edited, removed, inserted or moved'
complete -c oz0 -n "__fish_oz0_using_subcommand help; and __fish_seen_subcommand_from token" -f -a "create" -d 'Make a token, and print it: it is shown this once'
complete -c oz0 -n "__fish_oz0_using_subcommand help; and __fish_seen_subcommand_from token" -f -a "list" -d 'Show the tokens, revoked ones included; never their secrets'
complete -c oz0 -n "__fish_oz0_using_subcommand help; and __fish_seen_subcommand_from token" -f -a "revoke" -d 'Revoke a token: it stops working at once'
complete -c oz0 -n "__fish_oz0_using_subcommand help; and __fish_seen_subcommand_from node" -f -a "join" -d 'Join an edge, with a token that `oz0 token create --node NAME` printed'
complete -c oz0 -n "__fish_oz0_using_subcommand help; and __fish_seen_subcommand_from node" -f -a "list" -d 'Show the nodes, and whether they are there now'
