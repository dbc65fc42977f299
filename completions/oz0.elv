
use builtin;
use str;

set edit:completion:arg-completer[oz0] = {|@words|
    fn spaces {|n|
        builtin:repeat $n ' ' | str:join ''
    }
    fn cand {|text desc|
        edit:complex-candidate $text &display=$text' '(spaces (- 14 (wcswidth $text)))$desc
    }
    var command = 'oz0'
    for word $words[1..-1] {
        if (str:has-prefix $word '-') {
            break
        }
        set command = $command';'$word
    }
    var completions = [
        &'oz0'= {
            cand --color 'When to colour what is printed [variable: `OZ0_COLOR`] [default: auto]'
            cand --cache 'Where locked environments are kept [variable: `OZ0_CACHE`] [default: ~/.cache/oz0]'
            cand --data 'Where plugins, approvals and tokens are kept, and the edge''s socket [variable: `OZ0_DATA`] [default: ~/.local/share/oz0]'
            cand --edge 'The edge to speak to, instead of the one of the data folder [variable: `OZ0_EDGE`]'
            cand -q 'Say only what went wrong, and the result'
            cand --quiet 'Say only what went wrong, and the result'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand -V 'Print version'
            cand --version 'Print version'
            cand up 'Run plugins, with an MCP endpoint for clients'
            cand mcp 'Run one plugin for the MCP client that starts this command, over its standard input and output'
            cand edge 'Run an edge: the control plane alone, for nodes on other machines'
            cand wrap 'Make a plugin''s folder around a server that you use'
            cand plugin 'Measure plugins, look at them, and approve what changes in them'
            cand lsp 'Check plugins in an editor, as a language server on standard input and output'
            cand catalog 'Show every function as it was approved, and what waits beside it'
            cand call 'Call a function, as a client would'
            cand policy 'Say what may be called, what a person is asked about, and what is refused'
            cand approvals 'Look at the calls that wait for a person, and decide'
            cand secret 'Keep the secrets that plugins'' processes are given'
            cand connection 'Connect plugins to accounts at outside systems, whose tokens go with single calls'
            cand audit 'Read the audit log: who approved what, and when'
            cand token 'Make, list and revoke tokens'
            cand login 'Keep a token for an edge, so that commands use it'
            cand node 'Run a node, join an edge with it, or look at an edge''s nodes'
            cand completions 'Print the completions of a shell'
            cand help 'Print this message or the help of the given subcommand(s)'
        }
        &'oz0;up'= {
            cand --listen 'Where the edge listens; port 0 picks a free one [variable: `OZ0_LISTEN`] [default: 127.0.0.1:7070]'
            cand --mcp-listen 'Where the MCP endpoint listens; port 0 picks a free one [variable: `OZ0_MCP_LISTEN`] [default: 127.0.0.1:7071]'
            cand --host 'Another name that this machine is reached by (repeatable); requests for other names are refused'
            cand --public-url 'Where people reach the console, of a proxy that stands in front: `https://oz0.example` [variable: `OZ0_PUBLIC_URL`]'
            cand --trusted-proxy 'A proxy that is believed when it says whom it stands for: an address, or a network (repeatable)'
            cand --secret 'Give a secret its value from this environment, to each plugin that declares it when it is started (repeatable); to one plugin alone: PLUGIN=NAME'
            cand --share 'Let a plugin''s servers read and write this folder, at the same path (repeatable); where several plugins run, say which: NAME=DIR'
            cand --share-read 'Let a plugin''s servers read this folder, at the same path (repeatable); NAME=DIR as with --share'
            cand --verify-every 'How old a server''s listing may be when a call relies on it, in seconds; 0 lists before each call [variable: `OZ0_VERIFY_EVERY`] [default: 2, and 30 for remote servers]'
            cand --validate 'What becomes of structured results that do not match the output schema [variable: `OZ0_VALIDATE`] [default: warn]'
            cand --arguments 'Which arguments are let through [variable: `OZ0_ARGUMENTS`] [default: as-listed]'
            cand --edge-grace 'How long calls go on when the edge is lost, in seconds [variable: `OZ0_EDGE_GRACE`] [default: 3600]'
            cand --approval-timeout 'How long a call waits for a person who is asked about it, in seconds; a day at most [variable: `OZ0_APPROVAL_TIMEOUT`] [default: 600]'
            cand --ai-label 'The line put under text that a plugin marks as written for people by a machine [variable: `OZ0_AI_LABEL`] [default: [AI-generated]]'
            cand --metrics-listen 'Serve /metrics, /healthz and /readyz on a port of their own, to anyone who reaches it [variable: `OZ0_METRICS_LISTEN`] [default: none]'
            cand --log 'Log to standard error, in place of what is said there otherwise: a level, or directives such as `info,oz0::call=debug` [variable: `OZ0_LOG`] [default: off, and info where a format is given]'
            cand --log-format 'How the log is written; json is an object a line [variable: `OZ0_LOG_FORMAT`] [default: text]'
            cand --color 'When to colour what is printed [variable: `OZ0_COLOR`] [default: auto]'
            cand --cache 'Where locked environments are kept [variable: `OZ0_CACHE`] [default: ~/.cache/oz0]'
            cand --data 'Where plugins, approvals and tokens are kept, and the edge''s socket [variable: `OZ0_DATA`] [default: ~/.local/share/oz0]'
            cand --edge 'The edge to speak to, instead of the one of the data folder [variable: `OZ0_EDGE`]'
            cand --mcp-auth 'Let only MCP clients in that show a token: oz0 token create --client NAME'
            cand --json 'Print the first line as JSON'
            cand -q 'Say only what went wrong, and the result'
            cand --quiet 'Say only what went wrong, and the result'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand -V 'Print version'
            cand --version 'Print version'
        }
        &'oz0;mcp'= {
            cand --secret 'Give a secret its value from this environment, to each plugin that declares it when it is started (repeatable); to one plugin alone: PLUGIN=NAME'
            cand --share 'Let a plugin''s servers read and write this folder, at the same path (repeatable); where several plugins run, say which: NAME=DIR'
            cand --share-read 'Let a plugin''s servers read this folder, at the same path (repeatable); NAME=DIR as with --share'
            cand --verify-every 'How old a server''s listing may be when a call relies on it, in seconds; 0 lists before each call [variable: `OZ0_VERIFY_EVERY`] [default: 2, and 30 for remote servers]'
            cand --validate 'What becomes of structured results that do not match the output schema [variable: `OZ0_VALIDATE`] [default: warn]'
            cand --arguments 'Which arguments are let through [variable: `OZ0_ARGUMENTS`] [default: as-listed]'
            cand --edge-grace 'How long calls go on when the edge is lost, in seconds [variable: `OZ0_EDGE_GRACE`] [default: 3600]'
            cand --approval-timeout 'How long a call waits for a person who is asked about it, in seconds; a day at most [variable: `OZ0_APPROVAL_TIMEOUT`] [default: 600]'
            cand --ai-label 'The line put under text that a plugin marks as written for people by a machine [variable: `OZ0_AI_LABEL`] [default: [AI-generated]]'
            cand --log 'Log to standard error, in place of what is said there otherwise: a level, or directives such as `info,oz0::call=debug` [variable: `OZ0_LOG`] [default: off, and info where a format is given]'
            cand --log-format 'How the log is written; json is an object a line [variable: `OZ0_LOG_FORMAT`] [default: text]'
            cand --color 'When to colour what is printed [variable: `OZ0_COLOR`] [default: auto]'
            cand --cache 'Where locked environments are kept [variable: `OZ0_CACHE`] [default: ~/.cache/oz0]'
            cand --data 'Where plugins, approvals and tokens are kept, and the edge''s socket [variable: `OZ0_DATA`] [default: ~/.local/share/oz0]'
            cand --edge 'The edge to speak to, instead of the one of the data folder [variable: `OZ0_EDGE`]'
            cand -q 'Say only what went wrong, and the result'
            cand --quiet 'Say only what went wrong, and the result'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand -V 'Print version'
            cand --version 'Print version'
        }
        &'oz0;edge'= {
            cand --listen 'Where it listens; port 0 picks a free one [variable: `OZ0_LISTEN`] [default: 127.0.0.1:7070]'
            cand --host 'Another name that this machine is reached by (repeatable); requests for other names are refused'
            cand --public-url 'Where people reach the console, of a proxy that stands in front: `https://oz0.example` [variable: `OZ0_PUBLIC_URL`]'
            cand --trusted-proxy 'A proxy that is believed when it says whom it stands for: an address, or a network (repeatable)'
            cand --tls-cert 'The certificate to show, with its chain, in PEM'
            cand --tls-key 'Its private key, in PEM'
            cand --store 'The PostgreSQL database to keep the store in, which other edges may use as well; a file in the data folder otherwise. An address with a password is better given in the variable, which other users do not see [variable: `OZ0_STORE`]'
            cand --bundles 'Where bundles are kept: a folder, or `s3://BUCKET[/PREFIX]` with region, endpoint and credentials in the variables that Amazon''s tools read [variable: `OZ0_BUNDLES`] [default: `bundles` in the data folder]'
            cand --metrics-listen 'Serve /metrics, /healthz and /readyz on a port of their own, to anyone who reaches it [variable: `OZ0_METRICS_LISTEN`] [default: none]'
            cand --log 'Log to standard error, in place of what is said there otherwise: a level, or directives such as `info,oz0::call=debug` [variable: `OZ0_LOG`] [default: off, and info where a format is given]'
            cand --log-format 'How the log is written; json is an object a line [variable: `OZ0_LOG_FORMAT`] [default: text]'
            cand --color 'When to colour what is printed [variable: `OZ0_COLOR`] [default: auto]'
            cand --cache 'Where locked environments are kept [variable: `OZ0_CACHE`] [default: ~/.cache/oz0]'
            cand --data 'Where plugins, approvals and tokens are kept, and the edge''s socket [variable: `OZ0_DATA`] [default: ~/.local/share/oz0]'
            cand --edge 'The edge to speak to, instead of the one of the data folder [variable: `OZ0_EDGE`]'
            cand --json 'Print the first line as JSON'
            cand -q 'Say only what went wrong, and the result'
            cand --quiet 'Say only what went wrong, and the result'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand -V 'Print version'
            cand --version 'Print version'
            cand migrate 'Bring a store''s schema to what this oz0 reads'
            cand backup 'Write the store and its bundles into a new file, also while an edge runs'
            cand restore 'Bring a backup into a store that is not there yet'
            cand help 'Print this message or the help of the given subcommand(s)'
        }
        &'oz0;edge;migrate'= {
            cand --store 'The PostgreSQL database to keep the store in, which other edges may use as well; a file in the data folder otherwise. An address with a password is better given in the variable, which other users do not see [variable: `OZ0_STORE`]'
            cand --bundles 'Where bundles are kept: a folder, or `s3://BUCKET[/PREFIX]` with region, endpoint and credentials in the variables that Amazon''s tools read [variable: `OZ0_BUNDLES`] [default: `bundles` in the data folder]'
            cand --color 'When to colour what is printed [variable: `OZ0_COLOR`] [default: auto]'
            cand --cache 'Where locked environments are kept [variable: `OZ0_CACHE`] [default: ~/.cache/oz0]'
            cand --data 'Where plugins, approvals and tokens are kept, and the edge''s socket [variable: `OZ0_DATA`] [default: ~/.local/share/oz0]'
            cand --edge 'The edge to speak to, instead of the one of the data folder [variable: `OZ0_EDGE`]'
            cand -q 'Say only what went wrong, and the result'
            cand --quiet 'Say only what went wrong, and the result'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand -V 'Print version'
            cand --version 'Print version'
        }
        &'oz0;edge;backup'= {
            cand --store 'The PostgreSQL database to keep the store in, which other edges may use as well; a file in the data folder otherwise. An address with a password is better given in the variable, which other users do not see [variable: `OZ0_STORE`]'
            cand --bundles 'Where bundles are kept: a folder, or `s3://BUCKET[/PREFIX]` with region, endpoint and credentials in the variables that Amazon''s tools read [variable: `OZ0_BUNDLES`] [default: `bundles` in the data folder]'
            cand --color 'When to colour what is printed [variable: `OZ0_COLOR`] [default: auto]'
            cand --cache 'Where locked environments are kept [variable: `OZ0_CACHE`] [default: ~/.cache/oz0]'
            cand --data 'Where plugins, approvals and tokens are kept, and the edge''s socket [variable: `OZ0_DATA`] [default: ~/.local/share/oz0]'
            cand --edge 'The edge to speak to, instead of the one of the data folder [variable: `OZ0_EDGE`]'
            cand -q 'Say only what went wrong, and the result'
            cand --quiet 'Say only what went wrong, and the result'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand -V 'Print version'
            cand --version 'Print version'
        }
        &'oz0;edge;restore'= {
            cand --store 'The PostgreSQL database to keep the store in, which other edges may use as well; a file in the data folder otherwise. An address with a password is better given in the variable, which other users do not see [variable: `OZ0_STORE`]'
            cand --bundles 'Where bundles are kept: a folder, or `s3://BUCKET[/PREFIX]` with region, endpoint and credentials in the variables that Amazon''s tools read [variable: `OZ0_BUNDLES`] [default: `bundles` in the data folder]'
            cand --color 'When to colour what is printed [variable: `OZ0_COLOR`] [default: auto]'
            cand --cache 'Where locked environments are kept [variable: `OZ0_CACHE`] [default: ~/.cache/oz0]'
            cand --data 'Where plugins, approvals and tokens are kept, and the edge''s socket [variable: `OZ0_DATA`] [default: ~/.local/share/oz0]'
            cand --edge 'The edge to speak to, instead of the one of the data folder [variable: `OZ0_EDGE`]'
            cand -q 'Say only what went wrong, and the result'
            cand --quiet 'Say only what went wrong, and the result'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand -V 'Print version'
            cand --version 'Print version'
        }
        &'oz0;edge;help'= {
            cand migrate 'Bring a store''s schema to what this oz0 reads'
            cand backup 'Write the store and its bundles into a new file, also while an edge runs'
            cand restore 'Bring a backup into a store that is not there yet'
            cand help 'Print this message or the help of the given subcommand(s)'
        }
        &'oz0;edge;help;migrate'= {
        }
        &'oz0;edge;help;backup'= {
        }
        &'oz0;edge;help;restore'= {
        }
        &'oz0;edge;help;help'= {
        }
        &'oz0;wrap'= {
            cand --dir 'The folder to write: a new one, or the one of the server''s own project [default: one of the plugin''s name here]'
            cand --name 'The plugin''s name [default: made of the server''s]'
            cand -e 'Give the server this variable; the manifest has its value (repeatable)'
            cand --env 'Give the server this variable; the manifest has its value (repeatable)'
            cand --secret 'A variable that is a secret: the manifest has its name alone, and whoever runs the plugin hands its value over (repeatable)'
            cand --egress 'A host that the server reaches (repeatable); without one it has no network'
            cand --license 'The plugin''s licence, as an SPDX expression'
            cand --url 'Wrap a remote server'
            cand --header 'A header of requests to the remote server; the manifest has its value (repeatable)'
            cand --from 'Wrap a server of a client''s configuration: its name, where there are several, stands behind'
            cand --color 'When to colour what is printed [variable: `OZ0_COLOR`] [default: auto]'
            cand --cache 'Where locked environments are kept [variable: `OZ0_CACHE`] [default: ~/.cache/oz0]'
            cand --data 'Where plugins, approvals and tokens are kept, and the edge''s socket [variable: `OZ0_DATA`] [default: ~/.local/share/oz0]'
            cand --edge 'The edge to speak to, instead of the one of the data folder [variable: `OZ0_EDGE`]'
            cand --force 'Write over files that are there'
            cand -q 'Say only what went wrong, and the result'
            cand --quiet 'Say only what went wrong, and the result'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand -V 'Print version'
            cand --version 'Print version'
        }
        &'oz0;plugin'= {
            cand --color 'When to colour what is printed [variable: `OZ0_COLOR`] [default: auto]'
            cand --cache 'Where locked environments are kept [variable: `OZ0_CACHE`] [default: ~/.cache/oz0]'
            cand --data 'Where plugins, approvals and tokens are kept, and the edge''s socket [variable: `OZ0_DATA`] [default: ~/.local/share/oz0]'
            cand --edge 'The edge to speak to, instead of the one of the data folder [variable: `OZ0_EDGE`]'
            cand -q 'Say only what went wrong, and the result'
            cand --quiet 'Say only what went wrong, and the result'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand -V 'Print version'
            cand --version 'Print version'
            cand new 'Write a new plugin from a template'
            cand test 'Start a plugin''s servers, and write what they list into tools.listing.json'
            cand lint 'Check a plugin against the house rules; runs nothing of it'
            cand explain 'Print a rule''s page: what it finds, why, and what to do'
            cand inspect 'Show a plugin, a folder or a bundle, and its measured listing; runs nothing of it'
            cand pack 'Pack a plugin into one file, NAME-VERSION.oz0, for others to install'
            cand install 'Install a plugin, a folder or a bundle, on every node'
            cand update 'Run another version of an installed plugin, on every node or on some of them first'
            cand promote 'Run a plugin''s candidate on every node'
            cand rollback 'Take a plugin''s candidate back, or without one go back to the version before'
            cand list 'Show the installed plugins: what runs where, what waits for approval, what is left out, what failed'
            cand approve-tools 'Look at what changed in a plugin''s tools, and approve it'
            cand remove 'Remove a plugin: nodes stop running it, and what was approved of it stays known'
            cand schema 'Print the JSON Schema of oz0-plugin.yaml'
            cand help 'Print this message or the help of the given subcommand(s)'
        }
        &'oz0;plugin;new'= {
            cand -t 'What to begin with'
            cand --template 'What to begin with'
            cand --dir 'The folder to write, which is new or empty [default: one of the plugin''s name here]'
            cand --color 'When to colour what is printed [variable: `OZ0_COLOR`] [default: auto]'
            cand --cache 'Where locked environments are kept [variable: `OZ0_CACHE`] [default: ~/.cache/oz0]'
            cand --data 'Where plugins, approvals and tokens are kept, and the edge''s socket [variable: `OZ0_DATA`] [default: ~/.local/share/oz0]'
            cand --edge 'The edge to speak to, instead of the one of the data folder [variable: `OZ0_EDGE`]'
            cand -q 'Say only what went wrong, and the result'
            cand --quiet 'Say only what went wrong, and the result'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand -V 'Print version'
            cand --version 'Print version'
        }
        &'oz0;plugin;test'= {
            cand --secret 'Give a secret of requires its value from this environment (repeatable); a required one is a placeholder otherwise'
            cand --share 'Let the servers read and write this folder, at the same path (repeatable)'
            cand --share-read 'Let the servers read this folder, at the same path (repeatable)'
            cand --era 'Which era of the protocol to open connections in: try the modern one first, or just one'
            cand --timeout 'How long a server may take to start and list, in seconds'
            cand --color 'When to colour what is printed [variable: `OZ0_COLOR`] [default: auto]'
            cand --cache 'Where locked environments are kept [variable: `OZ0_CACHE`] [default: ~/.cache/oz0]'
            cand --data 'Where plugins, approvals and tokens are kept, and the edge''s socket [variable: `OZ0_DATA`] [default: ~/.local/share/oz0]'
            cand --edge 'The edge to speak to, instead of the one of the data folder [variable: `OZ0_EDGE`]'
            cand --json 'Print the report as JSON'
            cand --relock 'Resolve the dependencies of package: tools anew, and write their locks'
            cand --check 'Write nothing, and fail if tools.listing.json or a lock is not what would be written'
            cand --no-contract-tests 'Leave out the contract tests in tests/'
            cand -q 'Say only what went wrong, and the result'
            cand --quiet 'Say only what went wrong, and the result'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand -V 'Print version'
            cand --version 'Print version'
        }
        &'oz0;plugin;lint'= {
            cand --rule 'Run only this rule (repeatable): its code or its name; what the loader finds is told in any case'
            cand --format 'How to print the findings'
            cand --output 'Write the findings into a file as well (repeatable)'
            cand --color 'When to colour what is printed [variable: `OZ0_COLOR`] [default: auto]'
            cand --cache 'Where locked environments are kept [variable: `OZ0_CACHE`] [default: ~/.cache/oz0]'
            cand --data 'Where plugins, approvals and tokens are kept, and the edge''s socket [variable: `OZ0_DATA`] [default: ~/.local/share/oz0]'
            cand --edge 'The edge to speak to, instead of the one of the data folder [variable: `OZ0_EDGE`]'
            cand --verified 'Hold the plugin to the level of verified plugins'
            cand --fix 'Make the changes that cannot alter what the plugin does'
            cand --diff 'Show what --fix would change, and write nothing'
            cand --json 'Print the findings as JSON'
            cand --list-rules 'List the rules'
            cand -q 'Say only what went wrong, and the result'
            cand --quiet 'Say only what went wrong, and the result'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand -V 'Print version'
            cand --version 'Print version'
        }
        &'oz0;plugin;explain'= {
            cand --color 'When to colour what is printed [variable: `OZ0_COLOR`] [default: auto]'
            cand --cache 'Where locked environments are kept [variable: `OZ0_CACHE`] [default: ~/.cache/oz0]'
            cand --data 'Where plugins, approvals and tokens are kept, and the edge''s socket [variable: `OZ0_DATA`] [default: ~/.local/share/oz0]'
            cand --edge 'The edge to speak to, instead of the one of the data folder [variable: `OZ0_EDGE`]'
            cand --json 'Print it as JSON'
            cand -q 'Say only what went wrong, and the result'
            cand --quiet 'Say only what went wrong, and the result'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand -V 'Print version'
            cand --version 'Print version'
        }
        &'oz0;plugin;inspect'= {
            cand --color 'When to colour what is printed [variable: `OZ0_COLOR`] [default: auto]'
            cand --cache 'Where locked environments are kept [variable: `OZ0_CACHE`] [default: ~/.cache/oz0]'
            cand --data 'Where plugins, approvals and tokens are kept, and the edge''s socket [variable: `OZ0_DATA`] [default: ~/.local/share/oz0]'
            cand --edge 'The edge to speak to, instead of the one of the data folder [variable: `OZ0_EDGE`]'
            cand --json 'Print it as JSON'
            cand -q 'Say only what went wrong, and the result'
            cand --quiet 'Say only what went wrong, and the result'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand -V 'Print version'
            cand --version 'Print version'
        }
        &'oz0;plugin;pack'= {
            cand --secret 'With --list-tools, give a secret of requires its value from this environment (repeatable)'
            cand -o 'Where to write the bundle: a file, or a folder for NAME-VERSION.oz0 [default: the working folder]'
            cand --output 'Where to write the bundle: a file, or a folder for NAME-VERSION.oz0 [default: the working folder]'
            cand --color 'When to colour what is printed [variable: `OZ0_COLOR`] [default: auto]'
            cand --cache 'Where locked environments are kept [variable: `OZ0_CACHE`] [default: ~/.cache/oz0]'
            cand --data 'Where plugins, approvals and tokens are kept, and the edge''s socket [variable: `OZ0_DATA`] [default: ~/.local/share/oz0]'
            cand --edge 'The edge to speak to, instead of the one of the data folder [variable: `OZ0_EDGE`]'
            cand --list-tools 'First start the plugin''s servers, and write what they list into tools.listing.json'
            cand -q 'Say only what went wrong, and the result'
            cand --quiet 'Say only what went wrong, and the result'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand -V 'Print version'
            cand --version 'Print version'
        }
        &'oz0;plugin;install'= {
            cand --color 'When to colour what is printed [variable: `OZ0_COLOR`] [default: auto]'
            cand --cache 'Where locked environments are kept [variable: `OZ0_CACHE`] [default: ~/.cache/oz0]'
            cand --data 'Where plugins, approvals and tokens are kept, and the edge''s socket [variable: `OZ0_DATA`] [default: ~/.local/share/oz0]'
            cand --edge 'The edge to speak to, instead of the one of the data folder [variable: `OZ0_EDGE`]'
            cand --show 'Only show what would be installed, and what differs from the version that is installed now'
            cand --yes 'Install without asking a version whose functions differ from the installed one''s, or cannot be compared'
            cand --json 'Print as JSON: what is installed, or with --show what differs'
            cand -q 'Say only what went wrong, and the result'
            cand --quiet 'Say only what went wrong, and the result'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand -V 'Print version'
            cand --version 'Print version'
        }
        &'oz0;plugin;update'= {
            cand --canary 'Run it on these nodes only, as a candidate'
            cand --percent 'Run it on so many of a hundred nodes only, as a candidate; a node that is in stays in when this grows'
            cand --color 'When to colour what is printed [variable: `OZ0_COLOR`] [default: auto]'
            cand --cache 'Where locked environments are kept [variable: `OZ0_CACHE`] [default: ~/.cache/oz0]'
            cand --data 'Where plugins, approvals and tokens are kept, and the edge''s socket [variable: `OZ0_DATA`] [default: ~/.local/share/oz0]'
            cand --edge 'The edge to speak to, instead of the one of the data folder [variable: `OZ0_EDGE`]'
            cand --downgrade 'Also in place of a newer version'
            cand --show 'Only show what would be installed, and what differs from the version that is installed now'
            cand --yes 'Do not ask about a version whose functions differ from the installed one''s, or cannot be compared, or that asks for more'
            cand --json 'Print as JSON: what is installed, or with --show what differs'
            cand -q 'Say only what went wrong, and the result'
            cand --quiet 'Say only what went wrong, and the result'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand -V 'Print version'
            cand --version 'Print version'
        }
        &'oz0;plugin;promote'= {
            cand --color 'When to colour what is printed [variable: `OZ0_COLOR`] [default: auto]'
            cand --cache 'Where locked environments are kept [variable: `OZ0_CACHE`] [default: ~/.cache/oz0]'
            cand --data 'Where plugins, approvals and tokens are kept, and the edge''s socket [variable: `OZ0_DATA`] [default: ~/.local/share/oz0]'
            cand --edge 'The edge to speak to, instead of the one of the data folder [variable: `OZ0_EDGE`]'
            cand --yes 'Do not ask, whatever speaks against it'
            cand --json 'Print what is installed then as JSON'
            cand -q 'Say only what went wrong, and the result'
            cand --quiet 'Say only what went wrong, and the result'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand -V 'Print version'
            cand --version 'Print version'
        }
        &'oz0;plugin;rollback'= {
            cand --color 'When to colour what is printed [variable: `OZ0_COLOR`] [default: auto]'
            cand --cache 'Where locked environments are kept [variable: `OZ0_CACHE`] [default: ~/.cache/oz0]'
            cand --data 'Where plugins, approvals and tokens are kept, and the edge''s socket [variable: `OZ0_DATA`] [default: ~/.local/share/oz0]'
            cand --edge 'The edge to speak to, instead of the one of the data folder [variable: `OZ0_EDGE`]'
            cand --json 'Print what is installed then as JSON'
            cand -q 'Say only what went wrong, and the result'
            cand --quiet 'Say only what went wrong, and the result'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand -V 'Print version'
            cand --version 'Print version'
        }
        &'oz0;plugin;list'= {
            cand --color 'When to colour what is printed [variable: `OZ0_COLOR`] [default: auto]'
            cand --cache 'Where locked environments are kept [variable: `OZ0_CACHE`] [default: ~/.cache/oz0]'
            cand --data 'Where plugins, approvals and tokens are kept, and the edge''s socket [variable: `OZ0_DATA`] [default: ~/.local/share/oz0]'
            cand --edge 'The edge to speak to, instead of the one of the data folder [variable: `OZ0_EDGE`]'
            cand --json 'Print them as JSON'
            cand -q 'Say only what went wrong, and the result'
            cand --quiet 'Say only what went wrong, and the result'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand -V 'Print version'
            cand --version 'Print version'
        }
        &'oz0;plugin;approve-tools'= {
            cand --change 'Take this change (repeatable): its ID; where it is shown first, 8 digits that begin no other''s are enough'
            cand --function 'Take what waits of this function (repeatable)'
            cand --color 'When to colour what is printed [variable: `OZ0_COLOR`] [default: auto]'
            cand --cache 'Where locked environments are kept [variable: `OZ0_CACHE`] [default: ~/.cache/oz0]'
            cand --data 'Where plugins, approvals and tokens are kept, and the edge''s socket [variable: `OZ0_DATA`] [default: ~/.local/share/oz0]'
            cand --edge 'The edge to speak to, instead of the one of the data folder [variable: `OZ0_EDGE`]'
            cand --show 'Only show what waits'
            cand --yes 'Approve without asking what --change names'
            cand --json 'Print as JSON: what waits with --show, what was approved with --yes'
            cand -q 'Say only what went wrong, and the result'
            cand --quiet 'Say only what went wrong, and the result'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand -V 'Print version'
            cand --version 'Print version'
        }
        &'oz0;plugin;remove'= {
            cand --color 'When to colour what is printed [variable: `OZ0_COLOR`] [default: auto]'
            cand --cache 'Where locked environments are kept [variable: `OZ0_CACHE`] [default: ~/.cache/oz0]'
            cand --data 'Where plugins, approvals and tokens are kept, and the edge''s socket [variable: `OZ0_DATA`] [default: ~/.local/share/oz0]'
            cand --edge 'The edge to speak to, instead of the one of the data folder [variable: `OZ0_EDGE`]'
            cand -q 'Say only what went wrong, and the result'
            cand --quiet 'Say only what went wrong, and the result'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand -V 'Print version'
            cand --version 'Print version'
        }
        &'oz0;plugin;schema'= {
            cand --color 'When to colour what is printed [variable: `OZ0_COLOR`] [default: auto]'
            cand --cache 'Where locked environments are kept [variable: `OZ0_CACHE`] [default: ~/.cache/oz0]'
            cand --data 'Where plugins, approvals and tokens are kept, and the edge''s socket [variable: `OZ0_DATA`] [default: ~/.local/share/oz0]'
            cand --edge 'The edge to speak to, instead of the one of the data folder [variable: `OZ0_EDGE`]'
            cand -q 'Say only what went wrong, and the result'
            cand --quiet 'Say only what went wrong, and the result'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand -V 'Print version'
            cand --version 'Print version'
        }
        &'oz0;plugin;help'= {
            cand new 'Write a new plugin from a template'
            cand test 'Start a plugin''s servers, and write what they list into tools.listing.json'
            cand lint 'Check a plugin against the house rules; runs nothing of it'
            cand explain 'Print a rule''s page: what it finds, why, and what to do'
            cand inspect 'Show a plugin, a folder or a bundle, and its measured listing; runs nothing of it'
            cand pack 'Pack a plugin into one file, NAME-VERSION.oz0, for others to install'
            cand install 'Install a plugin, a folder or a bundle, on every node'
            cand update 'Run another version of an installed plugin, on every node or on some of them first'
            cand promote 'Run a plugin''s candidate on every node'
            cand rollback 'Take a plugin''s candidate back, or without one go back to the version before'
            cand list 'Show the installed plugins: what runs where, what waits for approval, what is left out, what failed'
            cand approve-tools 'Look at what changed in a plugin''s tools, and approve it'
            cand remove 'Remove a plugin: nodes stop running it, and what was approved of it stays known'
            cand schema 'Print the JSON Schema of oz0-plugin.yaml'
            cand help 'Print this message or the help of the given subcommand(s)'
        }
        &'oz0;plugin;help;new'= {
        }
        &'oz0;plugin;help;test'= {
        }
        &'oz0;plugin;help;lint'= {
        }
        &'oz0;plugin;help;explain'= {
        }
        &'oz0;plugin;help;inspect'= {
        }
        &'oz0;plugin;help;pack'= {
        }
        &'oz0;plugin;help;install'= {
        }
        &'oz0;plugin;help;update'= {
        }
        &'oz0;plugin;help;promote'= {
        }
        &'oz0;plugin;help;rollback'= {
        }
        &'oz0;plugin;help;list'= {
        }
        &'oz0;plugin;help;approve-tools'= {
        }
        &'oz0;plugin;help;remove'= {
        }
        &'oz0;plugin;help;schema'= {
        }
        &'oz0;plugin;help;help'= {
        }
        &'oz0;lsp'= {
            cand --color 'When to colour what is printed [variable: `OZ0_COLOR`] [default: auto]'
            cand --cache 'Where locked environments are kept [variable: `OZ0_CACHE`] [default: ~/.cache/oz0]'
            cand --data 'Where plugins, approvals and tokens are kept, and the edge''s socket [variable: `OZ0_DATA`] [default: ~/.local/share/oz0]'
            cand --edge 'The edge to speak to, instead of the one of the data folder [variable: `OZ0_EDGE`]'
            cand --verified 'Hold plugins to the level of verified plugins, whatever the editor''s settings say'
            cand --stdio 'Speak on standard input and output, as is done in any case: some editors say so to every server'
            cand -q 'Say only what went wrong, and the result'
            cand --quiet 'Say only what went wrong, and the result'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand -V 'Print version'
            cand --version 'Print version'
        }
        &'oz0;catalog'= {
            cand --color 'When to colour what is printed [variable: `OZ0_COLOR`] [default: auto]'
            cand --cache 'Where locked environments are kept [variable: `OZ0_CACHE`] [default: ~/.cache/oz0]'
            cand --data 'Where plugins, approvals and tokens are kept, and the edge''s socket [variable: `OZ0_DATA`] [default: ~/.local/share/oz0]'
            cand --edge 'The edge to speak to, instead of the one of the data folder [variable: `OZ0_EDGE`]'
            cand --json 'Print it as JSON, with every accepted listing and every listing that waits'
            cand -q 'Say only what went wrong, and the result'
            cand --quiet 'Say only what went wrong, and the result'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand -V 'Print version'
            cand --version 'Print version'
        }
        &'oz0;call'= {
            cand --node 'The node to call it on; any that lists the function otherwise'
            cand --timeout 'How long to wait for the result, in seconds [default: 60, and for as long as a person is asked about the call]'
            cand --color 'When to colour what is printed [variable: `OZ0_COLOR`] [default: auto]'
            cand --cache 'Where locked environments are kept [variable: `OZ0_CACHE`] [default: ~/.cache/oz0]'
            cand --data 'Where plugins, approvals and tokens are kept, and the edge''s socket [variable: `OZ0_DATA`] [default: ~/.local/share/oz0]'
            cand --edge 'The edge to speak to, instead of the one of the data folder [variable: `OZ0_EDGE`]'
            cand --json 'Print the server''s result as it came, in JSON'
            cand -q 'Say only what went wrong, and the result'
            cand --quiet 'Say only what went wrong, and the result'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand -V 'Print version'
            cand --version 'Print version'
        }
        &'oz0;policy'= {
            cand --color 'When to colour what is printed [variable: `OZ0_COLOR`] [default: auto]'
            cand --cache 'Where locked environments are kept [variable: `OZ0_CACHE`] [default: ~/.cache/oz0]'
            cand --data 'Where plugins, approvals and tokens are kept, and the edge''s socket [variable: `OZ0_DATA`] [default: ~/.local/share/oz0]'
            cand --edge 'The edge to speak to, instead of the one of the data folder [variable: `OZ0_EDGE`]'
            cand -q 'Say only what went wrong, and the result'
            cand --quiet 'Say only what went wrong, and the result'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand -V 'Print version'
            cand --version 'Print version'
            cand list 'Show the rules, in the order in which they count'
            cand set 'Say what happens to the calls of some functions'
            cand unset 'Take a rule away'
            cand help 'Print this message or the help of the given subcommand(s)'
        }
        &'oz0;policy;list'= {
            cand --color 'When to colour what is printed [variable: `OZ0_COLOR`] [default: auto]'
            cand --cache 'Where locked environments are kept [variable: `OZ0_CACHE`] [default: ~/.cache/oz0]'
            cand --data 'Where plugins, approvals and tokens are kept, and the edge''s socket [variable: `OZ0_DATA`] [default: ~/.local/share/oz0]'
            cand --edge 'The edge to speak to, instead of the one of the data folder [variable: `OZ0_EDGE`]'
            cand --json 'Print them as JSON'
            cand -q 'Say only what went wrong, and the result'
            cand --quiet 'Say only what went wrong, and the result'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand -V 'Print version'
            cand --version 'Print version'
        }
        &'oz0;policy;set'= {
            cand --reason 'Why, for people and for whoever is refused'
            cand --when 'Only for some arguments: a JSON object of JSON pointers and the JSON Schemas that must all hold there'
            cand --before 'Where it stands: before the rule with this ID, or `first`'
            cand --color 'When to colour what is printed [variable: `OZ0_COLOR`] [default: auto]'
            cand --cache 'Where locked environments are kept [variable: `OZ0_CACHE`] [default: ~/.cache/oz0]'
            cand --data 'Where plugins, approvals and tokens are kept, and the edge''s socket [variable: `OZ0_DATA`] [default: ~/.local/share/oz0]'
            cand --edge 'The edge to speak to, instead of the one of the data folder [variable: `OZ0_EDGE`]'
            cand -q 'Say only what went wrong, and the result'
            cand --quiet 'Say only what went wrong, and the result'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand -V 'Print version'
            cand --version 'Print version'
        }
        &'oz0;policy;unset'= {
            cand --color 'When to colour what is printed [variable: `OZ0_COLOR`] [default: auto]'
            cand --cache 'Where locked environments are kept [variable: `OZ0_CACHE`] [default: ~/.cache/oz0]'
            cand --data 'Where plugins, approvals and tokens are kept, and the edge''s socket [variable: `OZ0_DATA`] [default: ~/.local/share/oz0]'
            cand --edge 'The edge to speak to, instead of the one of the data folder [variable: `OZ0_EDGE`]'
            cand -q 'Say only what went wrong, and the result'
            cand --quiet 'Say only what went wrong, and the result'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand -V 'Print version'
            cand --version 'Print version'
        }
        &'oz0;policy;help'= {
            cand list 'Show the rules, in the order in which they count'
            cand set 'Say what happens to the calls of some functions'
            cand unset 'Take a rule away'
            cand help 'Print this message or the help of the given subcommand(s)'
        }
        &'oz0;policy;help;list'= {
        }
        &'oz0;policy;help;set'= {
        }
        &'oz0;policy;help;unset'= {
        }
        &'oz0;policy;help;help'= {
        }
        &'oz0;approvals'= {
            cand --color 'When to colour what is printed [variable: `OZ0_COLOR`] [default: auto]'
            cand --cache 'Where locked environments are kept [variable: `OZ0_CACHE`] [default: ~/.cache/oz0]'
            cand --data 'Where plugins, approvals and tokens are kept, and the edge''s socket [variable: `OZ0_DATA`] [default: ~/.local/share/oz0]'
            cand --edge 'The edge to speak to, instead of the one of the data folder [variable: `OZ0_EDGE`]'
            cand -q 'Say only what went wrong, and the result'
            cand --quiet 'Say only what went wrong, and the result'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand -V 'Print version'
            cand --version 'Print version'
            cand list 'Show the calls that wait for a person, with their arguments'
            cand approve 'Let one call through that waits, this once'
            cand deny 'Refuse one call that waits'
            cand help 'Print this message or the help of the given subcommand(s)'
        }
        &'oz0;approvals;list'= {
            cand --color 'When to colour what is printed [variable: `OZ0_COLOR`] [default: auto]'
            cand --cache 'Where locked environments are kept [variable: `OZ0_CACHE`] [default: ~/.cache/oz0]'
            cand --data 'Where plugins, approvals and tokens are kept, and the edge''s socket [variable: `OZ0_DATA`] [default: ~/.local/share/oz0]'
            cand --edge 'The edge to speak to, instead of the one of the data folder [variable: `OZ0_EDGE`]'
            cand --json 'Print them as JSON'
            cand -q 'Say only what went wrong, and the result'
            cand --quiet 'Say only what went wrong, and the result'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand -V 'Print version'
            cand --version 'Print version'
        }
        &'oz0;approvals;approve'= {
            cand --reason 'Why; whoever called is told where it is denied'
            cand --color 'When to colour what is printed [variable: `OZ0_COLOR`] [default: auto]'
            cand --cache 'Where locked environments are kept [variable: `OZ0_CACHE`] [default: ~/.cache/oz0]'
            cand --data 'Where plugins, approvals and tokens are kept, and the edge''s socket [variable: `OZ0_DATA`] [default: ~/.local/share/oz0]'
            cand --edge 'The edge to speak to, instead of the one of the data folder [variable: `OZ0_EDGE`]'
            cand -y 'Do not ask'
            cand --yes 'Do not ask'
            cand -q 'Say only what went wrong, and the result'
            cand --quiet 'Say only what went wrong, and the result'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand -V 'Print version'
            cand --version 'Print version'
        }
        &'oz0;approvals;deny'= {
            cand --reason 'Why; whoever called is told where it is denied'
            cand --color 'When to colour what is printed [variable: `OZ0_COLOR`] [default: auto]'
            cand --cache 'Where locked environments are kept [variable: `OZ0_CACHE`] [default: ~/.cache/oz0]'
            cand --data 'Where plugins, approvals and tokens are kept, and the edge''s socket [variable: `OZ0_DATA`] [default: ~/.local/share/oz0]'
            cand --edge 'The edge to speak to, instead of the one of the data folder [variable: `OZ0_EDGE`]'
            cand -y 'Do not ask'
            cand --yes 'Do not ask'
            cand -q 'Say only what went wrong, and the result'
            cand --quiet 'Say only what went wrong, and the result'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand -V 'Print version'
            cand --version 'Print version'
        }
        &'oz0;approvals;help'= {
            cand list 'Show the calls that wait for a person, with their arguments'
            cand approve 'Let one call through that waits, this once'
            cand deny 'Refuse one call that waits'
            cand help 'Print this message or the help of the given subcommand(s)'
        }
        &'oz0;approvals;help;list'= {
        }
        &'oz0;approvals;help;approve'= {
        }
        &'oz0;approvals;help;deny'= {
        }
        &'oz0;approvals;help;help'= {
        }
        &'oz0;secret'= {
            cand --color 'When to colour what is printed [variable: `OZ0_COLOR`] [default: auto]'
            cand --cache 'Where locked environments are kept [variable: `OZ0_CACHE`] [default: ~/.cache/oz0]'
            cand --data 'Where plugins, approvals and tokens are kept, and the edge''s socket [variable: `OZ0_DATA`] [default: ~/.local/share/oz0]'
            cand --edge 'The edge to speak to, instead of the one of the data folder [variable: `OZ0_EDGE`]'
            cand -q 'Say only what went wrong, and the result'
            cand --quiet 'Say only what went wrong, and the result'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand -V 'Print version'
            cand --version 'Print version'
            cand set 'Keep the value of a secret that a plugin declares'
            cand list 'Show which secrets plugins declare, and which of them are set'
            cand unset 'Forget the value of a secret'
            cand help 'Print this message or the help of the given subcommand(s)'
        }
        &'oz0;secret;set'= {
            cand --color 'When to colour what is printed [variable: `OZ0_COLOR`] [default: auto]'
            cand --cache 'Where locked environments are kept [variable: `OZ0_CACHE`] [default: ~/.cache/oz0]'
            cand --data 'Where plugins, approvals and tokens are kept, and the edge''s socket [variable: `OZ0_DATA`] [default: ~/.local/share/oz0]'
            cand --edge 'The edge to speak to, instead of the one of the data folder [variable: `OZ0_EDGE`]'
            cand -q 'Say only what went wrong, and the result'
            cand --quiet 'Say only what went wrong, and the result'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand -V 'Print version'
            cand --version 'Print version'
        }
        &'oz0;secret;list'= {
            cand --color 'When to colour what is printed [variable: `OZ0_COLOR`] [default: auto]'
            cand --cache 'Where locked environments are kept [variable: `OZ0_CACHE`] [default: ~/.cache/oz0]'
            cand --data 'Where plugins, approvals and tokens are kept, and the edge''s socket [variable: `OZ0_DATA`] [default: ~/.local/share/oz0]'
            cand --edge 'The edge to speak to, instead of the one of the data folder [variable: `OZ0_EDGE`]'
            cand --json 'Print them as JSON'
            cand -q 'Say only what went wrong, and the result'
            cand --quiet 'Say only what went wrong, and the result'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand -V 'Print version'
            cand --version 'Print version'
        }
        &'oz0;secret;unset'= {
            cand --color 'When to colour what is printed [variable: `OZ0_COLOR`] [default: auto]'
            cand --cache 'Where locked environments are kept [variable: `OZ0_CACHE`] [default: ~/.cache/oz0]'
            cand --data 'Where plugins, approvals and tokens are kept, and the edge''s socket [variable: `OZ0_DATA`] [default: ~/.local/share/oz0]'
            cand --edge 'The edge to speak to, instead of the one of the data folder [variable: `OZ0_EDGE`]'
            cand -q 'Say only what went wrong, and the result'
            cand --quiet 'Say only what went wrong, and the result'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand -V 'Print version'
            cand --version 'Print version'
        }
        &'oz0;secret;help'= {
            cand set 'Keep the value of a secret that a plugin declares'
            cand list 'Show which secrets plugins declare, and which of them are set'
            cand unset 'Forget the value of a secret'
            cand help 'Print this message or the help of the given subcommand(s)'
        }
        &'oz0;secret;help;set'= {
        }
        &'oz0;secret;help;list'= {
        }
        &'oz0;secret;help;unset'= {
        }
        &'oz0;secret;help;help'= {
        }
        &'oz0;connection'= {
            cand --color 'When to colour what is printed [variable: `OZ0_COLOR`] [default: auto]'
            cand --cache 'Where locked environments are kept [variable: `OZ0_CACHE`] [default: ~/.cache/oz0]'
            cand --data 'Where plugins, approvals and tokens are kept, and the edge''s socket [variable: `OZ0_DATA`] [default: ~/.local/share/oz0]'
            cand --edge 'The edge to speak to, instead of the one of the data folder [variable: `OZ0_EDGE`]'
            cand -q 'Say only what went wrong, and the result'
            cand --quiet 'Say only what went wrong, and the result'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand -V 'Print version'
            cand --version 'Print version'
            cand connect 'Connect a plugin''s connection to your account at its system'
            cand list 'Show the connections, and what they are connected with'
            cand disconnect 'Forget what a connection is connected with, and have its tokens revoked'
            cand help 'Print this message or the help of the given subcommand(s)'
        }
        &'oz0;connection;connect'= {
            cand --param 'The value of a param (repeatable); one that is left out has the manifest''s default'
            cand --issuer 'The authorization server''s issuer, where the plugin''s remote server does not name it'
            cand --authorize-url 'Where people authorize, of an authorization server without metadata'
            cand --token-url 'Where tokens are made, of an authorization server without metadata'
            cand --revoke-url 'Where tokens are revoked, of an authorization server without metadata'
            cand --client-id 'The client that was registered for oz0 there; without it, oz0 registers one where that is offered'
            cand --client-auth 'How the client shows its secret [default: what the server says, else basic]'
            cand --scope 'A scope to ask for (repeatable); without it, those that the manifest names'
            cand --redirect-port 'The port of this machine that the browser comes back to, where the client was registered with one'
            cand --color 'When to colour what is printed [variable: `OZ0_COLOR`] [default: auto]'
            cand --cache 'Where locked environments are kept [variable: `OZ0_CACHE`] [default: ~/.cache/oz0]'
            cand --data 'Where plugins, approvals and tokens are kept, and the edge''s socket [variable: `OZ0_DATA`] [default: ~/.local/share/oz0]'
            cand --edge 'The edge to speak to, instead of the one of the data folder [variable: `OZ0_EDGE`]'
            cand --oauth 'Authorize oz0 in a browser, instead of giving secrets'
            cand --client-credentials 'Have a token made for a client of the system, without a person'
            cand --client-secret 'Take the client''s secret from standard input, or ask for it'
            cand --no-browser 'Only print the address to open'
            cand -q 'Say only what went wrong, and the result'
            cand --quiet 'Say only what went wrong, and the result'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand -V 'Print version'
            cand --version 'Print version'
        }
        &'oz0;connection;list'= {
            cand --color 'When to colour what is printed [variable: `OZ0_COLOR`] [default: auto]'
            cand --cache 'Where locked environments are kept [variable: `OZ0_CACHE`] [default: ~/.cache/oz0]'
            cand --data 'Where plugins, approvals and tokens are kept, and the edge''s socket [variable: `OZ0_DATA`] [default: ~/.local/share/oz0]'
            cand --edge 'The edge to speak to, instead of the one of the data folder [variable: `OZ0_EDGE`]'
            cand --json 'Print them as JSON'
            cand -q 'Say only what went wrong, and the result'
            cand --quiet 'Say only what went wrong, and the result'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand -V 'Print version'
            cand --version 'Print version'
        }
        &'oz0;connection;disconnect'= {
            cand --color 'When to colour what is printed [variable: `OZ0_COLOR`] [default: auto]'
            cand --cache 'Where locked environments are kept [variable: `OZ0_CACHE`] [default: ~/.cache/oz0]'
            cand --data 'Where plugins, approvals and tokens are kept, and the edge''s socket [variable: `OZ0_DATA`] [default: ~/.local/share/oz0]'
            cand --edge 'The edge to speak to, instead of the one of the data folder [variable: `OZ0_EDGE`]'
            cand -q 'Say only what went wrong, and the result'
            cand --quiet 'Say only what went wrong, and the result'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand -V 'Print version'
            cand --version 'Print version'
        }
        &'oz0;connection;help'= {
            cand connect 'Connect a plugin''s connection to your account at its system'
            cand list 'Show the connections, and what they are connected with'
            cand disconnect 'Forget what a connection is connected with, and have its tokens revoked'
            cand help 'Print this message or the help of the given subcommand(s)'
        }
        &'oz0;connection;help;connect'= {
        }
        &'oz0;connection;help;list'= {
        }
        &'oz0;connection;help;disconnect'= {
        }
        &'oz0;connection;help;help'= {
        }
        &'oz0;audit'= {
            cand --plugin 'Only entries of this plugin'
            cand --function 'Only entries about this function, such as `team.hello`'
            cand --action 'Only these acts (repeatable): `plugin.tools.approve`, or `plugin.tools` for all that begin so'
            cand --actor 'Only acts of this actor: `token:NAME`, `node:NAME`, `local` or `edge`'
            cand --since 'Only entries since then: a span such as `2h`, or a time such as `2026-05-01T12:00:00Z`'
            cand --after 'Only entries after this position, to go on where an earlier run ended'
            cand -n 'Only the last so many of them; with --follow, before what comes'
            cand --last 'Only the last so many of them; with --follow, before what comes'
            cand --color 'When to colour what is printed [variable: `OZ0_COLOR`] [default: auto]'
            cand --cache 'Where locked environments are kept [variable: `OZ0_CACHE`] [default: ~/.cache/oz0]'
            cand --data 'Where plugins, approvals and tokens are kept, and the edge''s socket [variable: `OZ0_DATA`] [default: ~/.local/share/oz0]'
            cand --edge 'The edge to speak to, instead of the one of the data folder [variable: `OZ0_EDGE`]'
            cand -f 'Go on with what is written from now on, until interrupted'
            cand --follow 'Go on with what is written from now on, until interrupted'
            cand --json 'Print one JSON object a line'
            cand -q 'Say only what went wrong, and the result'
            cand --quiet 'Say only what went wrong, and the result'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand -V 'Print version'
            cand --version 'Print version'
            cand verify 'Check that no entry was edited, removed, inserted or moved'
            cand help 'Print this message or the help of the given subcommand(s)'
        }
        &'oz0;audit;verify'= {
            cand --color 'When to colour what is printed [variable: `OZ0_COLOR`] [default: auto]'
            cand --cache 'Where locked environments are kept [variable: `OZ0_CACHE`] [default: ~/.cache/oz0]'
            cand --data 'Where plugins, approvals and tokens are kept, and the edge''s socket [variable: `OZ0_DATA`] [default: ~/.local/share/oz0]'
            cand --edge 'The edge to speak to, instead of the one of the data folder [variable: `OZ0_EDGE`]'
            cand --json 'Print chains and faults as JSON'
            cand -q 'Say only what went wrong, and the result'
            cand --quiet 'Say only what went wrong, and the result'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand -V 'Print version'
            cand --version 'Print version'
        }
        &'oz0;audit;help'= {
            cand verify 'Check that no entry was edited, removed, inserted or moved'
            cand help 'Print this message or the help of the given subcommand(s)'
        }
        &'oz0;audit;help;verify'= {
        }
        &'oz0;audit;help;help'= {
        }
        &'oz0;token'= {
            cand --color 'When to colour what is printed [variable: `OZ0_COLOR`] [default: auto]'
            cand --cache 'Where locked environments are kept [variable: `OZ0_CACHE`] [default: ~/.cache/oz0]'
            cand --data 'Where plugins, approvals and tokens are kept, and the edge''s socket [variable: `OZ0_DATA`] [default: ~/.local/share/oz0]'
            cand --edge 'The edge to speak to, instead of the one of the data folder [variable: `OZ0_EDGE`]'
            cand -q 'Say only what went wrong, and the result'
            cand --quiet 'Say only what went wrong, and the result'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand -V 'Print version'
            cand --version 'Print version'
            cand create 'Make a token, and print it: it is shown this once'
            cand list 'Show the tokens, revoked ones included; never their secrets'
            cand revoke 'Revoke a token: it stops working at once'
            cand help 'Print this message or the help of the given subcommand(s)'
        }
        &'oz0;token;create'= {
            cand --client 'For an MCP client of this name: it calls functions, and nothing else'
            cand --admin 'For a person of this name, who approves, installs and makes tokens'
            cand --viewer 'For a person of this name, who reads what an admin reads, and does nothing'
            cand --node 'For setting up a node of this name: it works once, within an hour, with `oz0 node join`; a node that has the name now is let go when it is used'
            cand --color 'When to colour what is printed [variable: `OZ0_COLOR`] [default: auto]'
            cand --cache 'Where locked environments are kept [variable: `OZ0_CACHE`] [default: ~/.cache/oz0]'
            cand --data 'Where plugins, approvals and tokens are kept, and the edge''s socket [variable: `OZ0_DATA`] [default: ~/.local/share/oz0]'
            cand --edge 'The edge to speak to, instead of the one of the data folder [variable: `OZ0_EDGE`]'
            cand --may-approve 'Elicitation at this client may decide a call that is asked about'
            cand --json 'Print the token with what is known of it as JSON'
            cand -q 'Say only what went wrong, and the result'
            cand --quiet 'Say only what went wrong, and the result'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand -V 'Print version'
            cand --version 'Print version'
        }
        &'oz0;token;list'= {
            cand --color 'When to colour what is printed [variable: `OZ0_COLOR`] [default: auto]'
            cand --cache 'Where locked environments are kept [variable: `OZ0_CACHE`] [default: ~/.cache/oz0]'
            cand --data 'Where plugins, approvals and tokens are kept, and the edge''s socket [variable: `OZ0_DATA`] [default: ~/.local/share/oz0]'
            cand --edge 'The edge to speak to, instead of the one of the data folder [variable: `OZ0_EDGE`]'
            cand --json 'Print them as JSON'
            cand -q 'Say only what went wrong, and the result'
            cand --quiet 'Say only what went wrong, and the result'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand -V 'Print version'
            cand --version 'Print version'
        }
        &'oz0;token;revoke'= {
            cand --color 'When to colour what is printed [variable: `OZ0_COLOR`] [default: auto]'
            cand --cache 'Where locked environments are kept [variable: `OZ0_CACHE`] [default: ~/.cache/oz0]'
            cand --data 'Where plugins, approvals and tokens are kept, and the edge''s socket [variable: `OZ0_DATA`] [default: ~/.local/share/oz0]'
            cand --edge 'The edge to speak to, instead of the one of the data folder [variable: `OZ0_EDGE`]'
            cand -q 'Say only what went wrong, and the result'
            cand --quiet 'Say only what went wrong, and the result'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand -V 'Print version'
            cand --version 'Print version'
        }
        &'oz0;token;help'= {
            cand create 'Make a token, and print it: it is shown this once'
            cand list 'Show the tokens, revoked ones included; never their secrets'
            cand revoke 'Revoke a token: it stops working at once'
            cand help 'Print this message or the help of the given subcommand(s)'
        }
        &'oz0;token;help;create'= {
        }
        &'oz0;token;help;list'= {
        }
        &'oz0;token;help;revoke'= {
        }
        &'oz0;token;help;help'= {
        }
        &'oz0;login'= {
            cand --color 'When to colour what is printed [variable: `OZ0_COLOR`] [default: auto]'
            cand --cache 'Where locked environments are kept [variable: `OZ0_CACHE`] [default: ~/.cache/oz0]'
            cand --data 'Where plugins, approvals and tokens are kept, and the edge''s socket [variable: `OZ0_DATA`] [default: ~/.local/share/oz0]'
            cand --edge 'The edge to speak to, instead of the one of the data folder [variable: `OZ0_EDGE`]'
            cand -q 'Say only what went wrong, and the result'
            cand --quiet 'Say only what went wrong, and the result'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand -V 'Print version'
            cand --version 'Print version'
        }
        &'oz0;node'= {
            cand --mcp-listen 'Where the MCP endpoint listens; port 0 picks a free one [variable: `OZ0_MCP_LISTEN`] [default: 127.0.0.1:7071]'
            cand --host 'Another name that this machine is reached by (repeatable); requests for other names are refused'
            cand --secret 'Give a secret its value from this environment, to each plugin that declares it when it is started (repeatable); to one plugin alone: PLUGIN=NAME'
            cand --share 'Let a plugin''s servers read and write this folder, at the same path (repeatable); where several plugins run, say which: NAME=DIR'
            cand --share-read 'Let a plugin''s servers read this folder, at the same path (repeatable); NAME=DIR as with --share'
            cand --verify-every 'How old a server''s listing may be when a call relies on it, in seconds; 0 lists before each call [variable: `OZ0_VERIFY_EVERY`] [default: 2, and 30 for remote servers]'
            cand --validate 'What becomes of structured results that do not match the output schema [variable: `OZ0_VALIDATE`] [default: warn]'
            cand --arguments 'Which arguments are let through [variable: `OZ0_ARGUMENTS`] [default: as-listed]'
            cand --edge-grace 'How long calls go on when the edge is lost, in seconds [variable: `OZ0_EDGE_GRACE`] [default: 3600]'
            cand --approval-timeout 'How long a call waits for a person who is asked about it, in seconds; a day at most [variable: `OZ0_APPROVAL_TIMEOUT`] [default: 600]'
            cand --ai-label 'The line put under text that a plugin marks as written for people by a machine [variable: `OZ0_AI_LABEL`] [default: [AI-generated]]'
            cand --metrics-listen 'Serve /metrics, /healthz and /readyz on a port of their own, to anyone who reaches it [variable: `OZ0_METRICS_LISTEN`] [default: none]'
            cand --log 'Log to standard error, in place of what is said there otherwise: a level, or directives such as `info,oz0::call=debug` [variable: `OZ0_LOG`] [default: off, and info where a format is given]'
            cand --log-format 'How the log is written; json is an object a line [variable: `OZ0_LOG_FORMAT`] [default: text]'
            cand --color 'When to colour what is printed [variable: `OZ0_COLOR`] [default: auto]'
            cand --cache 'Where locked environments are kept [variable: `OZ0_CACHE`] [default: ~/.cache/oz0]'
            cand --data 'Where plugins, approvals and tokens are kept, and the edge''s socket [variable: `OZ0_DATA`] [default: ~/.local/share/oz0]'
            cand --edge 'The edge to speak to, instead of the one of the data folder [variable: `OZ0_EDGE`]'
            cand --json 'Print the first line as JSON'
            cand -q 'Say only what went wrong, and the result'
            cand --quiet 'Say only what went wrong, and the result'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand -V 'Print version'
            cand --version 'Print version'
            cand join 'Join an edge, with a token that `oz0 token create --node NAME` printed'
            cand list 'Show the nodes, and whether they are there now'
            cand help 'Print this message or the help of the given subcommand(s)'
        }
        &'oz0;node;join'= {
            cand --color 'When to colour what is printed [variable: `OZ0_COLOR`] [default: auto]'
            cand --cache 'Where locked environments are kept [variable: `OZ0_CACHE`] [default: ~/.cache/oz0]'
            cand --data 'Where plugins, approvals and tokens are kept, and the edge''s socket [variable: `OZ0_DATA`] [default: ~/.local/share/oz0]'
            cand --edge 'The edge to speak to, instead of the one of the data folder [variable: `OZ0_EDGE`]'
            cand -q 'Say only what went wrong, and the result'
            cand --quiet 'Say only what went wrong, and the result'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand -V 'Print version'
            cand --version 'Print version'
        }
        &'oz0;node;list'= {
            cand --color 'When to colour what is printed [variable: `OZ0_COLOR`] [default: auto]'
            cand --cache 'Where locked environments are kept [variable: `OZ0_CACHE`] [default: ~/.cache/oz0]'
            cand --data 'Where plugins, approvals and tokens are kept, and the edge''s socket [variable: `OZ0_DATA`] [default: ~/.local/share/oz0]'
            cand --edge 'The edge to speak to, instead of the one of the data folder [variable: `OZ0_EDGE`]'
            cand --json 'Print them as JSON'
            cand -q 'Say only what went wrong, and the result'
            cand --quiet 'Say only what went wrong, and the result'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand -V 'Print version'
            cand --version 'Print version'
        }
        &'oz0;node;help'= {
            cand join 'Join an edge, with a token that `oz0 token create --node NAME` printed'
            cand list 'Show the nodes, and whether they are there now'
            cand help 'Print this message or the help of the given subcommand(s)'
        }
        &'oz0;node;help;join'= {
        }
        &'oz0;node;help;list'= {
        }
        &'oz0;node;help;help'= {
        }
        &'oz0;completions'= {
            cand --color 'When to colour what is printed [variable: `OZ0_COLOR`] [default: auto]'
            cand --cache 'Where locked environments are kept [variable: `OZ0_CACHE`] [default: ~/.cache/oz0]'
            cand --data 'Where plugins, approvals and tokens are kept, and the edge''s socket [variable: `OZ0_DATA`] [default: ~/.local/share/oz0]'
            cand --edge 'The edge to speak to, instead of the one of the data folder [variable: `OZ0_EDGE`]'
            cand -q 'Say only what went wrong, and the result'
            cand --quiet 'Say only what went wrong, and the result'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand -V 'Print version'
            cand --version 'Print version'
        }
        &'oz0;help'= {
            cand up 'Run plugins, with an MCP endpoint for clients'
            cand mcp 'Run one plugin for the MCP client that starts this command, over its standard input and output'
            cand edge 'Run an edge: the control plane alone, for nodes on other machines'
            cand wrap 'Make a plugin''s folder around a server that you use'
            cand plugin 'Measure plugins, look at them, and approve what changes in them'
            cand lsp 'Check plugins in an editor, as a language server on standard input and output'
            cand catalog 'Show every function as it was approved, and what waits beside it'
            cand call 'Call a function, as a client would'
            cand policy 'Say what may be called, what a person is asked about, and what is refused'
            cand approvals 'Look at the calls that wait for a person, and decide'
            cand secret 'Keep the secrets that plugins'' processes are given'
            cand connection 'Connect plugins to accounts at outside systems, whose tokens go with single calls'
            cand audit 'Read the audit log: who approved what, and when'
            cand token 'Make, list and revoke tokens'
            cand login 'Keep a token for an edge, so that commands use it'
            cand node 'Run a node, join an edge with it, or look at an edge''s nodes'
            cand completions 'Print the completions of a shell'
            cand help 'Print this message or the help of the given subcommand(s)'
        }
        &'oz0;help;up'= {
        }
        &'oz0;help;mcp'= {
        }
        &'oz0;help;edge'= {
            cand migrate 'Bring a store''s schema to what this oz0 reads'
            cand backup 'Write the store and its bundles into a new file, also while an edge runs'
            cand restore 'Bring a backup into a store that is not there yet'
        }
        &'oz0;help;edge;migrate'= {
        }
        &'oz0;help;edge;backup'= {
        }
        &'oz0;help;edge;restore'= {
        }
        &'oz0;help;wrap'= {
        }
        &'oz0;help;plugin'= {
            cand new 'Write a new plugin from a template'
            cand test 'Start a plugin''s servers, and write what they list into tools.listing.json'
            cand lint 'Check a plugin against the house rules; runs nothing of it'
            cand explain 'Print a rule''s page: what it finds, why, and what to do'
            cand inspect 'Show a plugin, a folder or a bundle, and its measured listing; runs nothing of it'
            cand pack 'Pack a plugin into one file, NAME-VERSION.oz0, for others to install'
            cand install 'Install a plugin, a folder or a bundle, on every node'
            cand update 'Run another version of an installed plugin, on every node or on some of them first'
            cand promote 'Run a plugin''s candidate on every node'
            cand rollback 'Take a plugin''s candidate back, or without one go back to the version before'
            cand list 'Show the installed plugins: what runs where, what waits for approval, what is left out, what failed'
            cand approve-tools 'Look at what changed in a plugin''s tools, and approve it'
            cand remove 'Remove a plugin: nodes stop running it, and what was approved of it stays known'
            cand schema 'Print the JSON Schema of oz0-plugin.yaml'
        }
        &'oz0;help;plugin;new'= {
        }
        &'oz0;help;plugin;test'= {
        }
        &'oz0;help;plugin;lint'= {
        }
        &'oz0;help;plugin;explain'= {
        }
        &'oz0;help;plugin;inspect'= {
        }
        &'oz0;help;plugin;pack'= {
        }
        &'oz0;help;plugin;install'= {
        }
        &'oz0;help;plugin;update'= {
        }
        &'oz0;help;plugin;promote'= {
        }
        &'oz0;help;plugin;rollback'= {
        }
        &'oz0;help;plugin;list'= {
        }
        &'oz0;help;plugin;approve-tools'= {
        }
        &'oz0;help;plugin;remove'= {
        }
        &'oz0;help;plugin;schema'= {
        }
        &'oz0;help;lsp'= {
        }
        &'oz0;help;catalog'= {
        }
        &'oz0;help;call'= {
        }
        &'oz0;help;policy'= {
            cand list 'Show the rules, in the order in which they count'
            cand set 'Say what happens to the calls of some functions'
            cand unset 'Take a rule away'
        }
        &'oz0;help;policy;list'= {
        }
        &'oz0;help;policy;set'= {
        }
        &'oz0;help;policy;unset'= {
        }
        &'oz0;help;approvals'= {
            cand list 'Show the calls that wait for a person, with their arguments'
            cand approve 'Let one call through that waits, this once'
            cand deny 'Refuse one call that waits'
        }
        &'oz0;help;approvals;list'= {
        }
        &'oz0;help;approvals;approve'= {
        }
        &'oz0;help;approvals;deny'= {
        }
        &'oz0;help;secret'= {
            cand set 'Keep the value of a secret that a plugin declares'
            cand list 'Show which secrets plugins declare, and which of them are set'
            cand unset 'Forget the value of a secret'
        }
        &'oz0;help;secret;set'= {
        }
        &'oz0;help;secret;list'= {
        }
        &'oz0;help;secret;unset'= {
        }
        &'oz0;help;connection'= {
            cand connect 'Connect a plugin''s connection to your account at its system'
            cand list 'Show the connections, and what they are connected with'
            cand disconnect 'Forget what a connection is connected with, and have its tokens revoked'
        }
        &'oz0;help;connection;connect'= {
        }
        &'oz0;help;connection;list'= {
        }
        &'oz0;help;connection;disconnect'= {
        }
        &'oz0;help;audit'= {
            cand verify 'Check that no entry was edited, removed, inserted or moved'
        }
        &'oz0;help;audit;verify'= {
        }
        &'oz0;help;token'= {
            cand create 'Make a token, and print it: it is shown this once'
            cand list 'Show the tokens, revoked ones included; never their secrets'
            cand revoke 'Revoke a token: it stops working at once'
        }
        &'oz0;help;token;create'= {
        }
        &'oz0;help;token;list'= {
        }
        &'oz0;help;token;revoke'= {
        }
        &'oz0;help;login'= {
        }
        &'oz0;help;node'= {
            cand join 'Join an edge, with a token that `oz0 token create --node NAME` printed'
            cand list 'Show the nodes, and whether they are there now'
        }
        &'oz0;help;node;join'= {
        }
        &'oz0;help;node;list'= {
        }
        &'oz0;help;completions'= {
        }
        &'oz0;help;help'= {
        }
    ]
    $completions[$command]
}
