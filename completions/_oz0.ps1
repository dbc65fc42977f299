
using namespace System.Management.Automation
using namespace System.Management.Automation.Language

Register-ArgumentCompleter -Native -CommandName 'oz0' -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)

    $commandElements = $commandAst.CommandElements
    $command = @(
        'oz0'
        for ($i = 1; $i -lt $commandElements.Count; $i++) {
            $element = $commandElements[$i]
            if ($element -isnot [StringConstantExpressionAst] -or
                $element.StringConstantType -ne [StringConstantType]::BareWord -or
                $element.Value.StartsWith('-') -or
                $element.Value -eq $wordToComplete) {
                break
        }
        $element.Value
    }) -join ';'

    $completions = @(switch ($command) {
        'oz0' {
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour what is printed [variable: `OZ0_COLOR`] [default: auto]')
            [CompletionResult]::new('--cache', '--cache', [CompletionResultType]::ParameterName, 'Where locked environments are kept [variable: `OZ0_CACHE`] [default: ~/.cache/oz0]')
            [CompletionResult]::new('--data', '--data', [CompletionResultType]::ParameterName, 'Where plugins, approvals and tokens are kept, and the edge''s socket [variable: `OZ0_DATA`] [default: ~/.local/share/oz0]')
            [CompletionResult]::new('--edge', '--edge', [CompletionResultType]::ParameterName, 'The edge to speak to, instead of the one of the data folder [variable: `OZ0_EDGE`]')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Say only what went wrong, and the result')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Say only what went wrong, and the result')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('up', 'up', [CompletionResultType]::ParameterValue, 'Run plugins, with an MCP endpoint for clients')
            [CompletionResult]::new('mcp', 'mcp', [CompletionResultType]::ParameterValue, 'Run one plugin for the MCP client that starts this command, over its standard input and output')
            [CompletionResult]::new('edge', 'edge', [CompletionResultType]::ParameterValue, 'Run an edge: the control plane alone, for nodes on other machines')
            [CompletionResult]::new('wrap', 'wrap', [CompletionResultType]::ParameterValue, 'Make a plugin''s folder around a server that you use')
            [CompletionResult]::new('plugin', 'plugin', [CompletionResultType]::ParameterValue, 'Measure plugins, look at them, and approve what changes in them')
            [CompletionResult]::new('lsp', 'lsp', [CompletionResultType]::ParameterValue, 'Check plugins in an editor, as a language server on standard input and output')
            [CompletionResult]::new('catalog', 'catalog', [CompletionResultType]::ParameterValue, 'Show every function as it was approved, and what waits beside it')
            [CompletionResult]::new('call', 'call', [CompletionResultType]::ParameterValue, 'Call a function, as a client would')
            [CompletionResult]::new('policy', 'policy', [CompletionResultType]::ParameterValue, 'Say what may be called, what a person is asked about, and what is refused')
            [CompletionResult]::new('approvals', 'approvals', [CompletionResultType]::ParameterValue, 'Look at the calls that wait for a person, and decide')
            [CompletionResult]::new('secret', 'secret', [CompletionResultType]::ParameterValue, 'Keep the secrets that plugins'' processes are given')
            [CompletionResult]::new('connection', 'connection', [CompletionResultType]::ParameterValue, 'Connect plugins to accounts at outside systems, whose tokens go with single calls')
            [CompletionResult]::new('audit', 'audit', [CompletionResultType]::ParameterValue, 'Read the audit log: who approved what, and when')
            [CompletionResult]::new('token', 'token', [CompletionResultType]::ParameterValue, 'Make, list and revoke tokens')
            [CompletionResult]::new('login', 'login', [CompletionResultType]::ParameterValue, 'Keep a token for an edge, so that commands use it')
            [CompletionResult]::new('node', 'node', [CompletionResultType]::ParameterValue, 'Run a node, join an edge with it, or look at an edge''s nodes')
            [CompletionResult]::new('completions', 'completions', [CompletionResultType]::ParameterValue, 'Print the completions of a shell')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'oz0;up' {
            [CompletionResult]::new('--listen', '--listen', [CompletionResultType]::ParameterName, 'Where the edge listens; port 0 picks a free one [variable: `OZ0_LISTEN`] [default: 127.0.0.1:7070]')
            [CompletionResult]::new('--mcp-listen', '--mcp-listen', [CompletionResultType]::ParameterName, 'Where the MCP endpoint listens; port 0 picks a free one [variable: `OZ0_MCP_LISTEN`] [default: 127.0.0.1:7071]')
            [CompletionResult]::new('--host', '--host', [CompletionResultType]::ParameterName, 'Another name that this machine is reached by (repeatable); requests for other names are refused')
            [CompletionResult]::new('--public-url', '--public-url', [CompletionResultType]::ParameterName, 'Where people reach the console, of a proxy that stands in front: `https://oz0.example` [variable: `OZ0_PUBLIC_URL`]')
            [CompletionResult]::new('--trusted-proxy', '--trusted-proxy', [CompletionResultType]::ParameterName, 'A proxy that is believed when it says whom it stands for: an address, or a network (repeatable)')
            [CompletionResult]::new('--secret', '--secret', [CompletionResultType]::ParameterName, 'Give a secret its value from this environment, to each plugin that declares it when it is started (repeatable); to one plugin alone: PLUGIN=NAME')
            [CompletionResult]::new('--share', '--share', [CompletionResultType]::ParameterName, 'Let a plugin''s servers read and write this folder, at the same path (repeatable); where several plugins run, say which: NAME=DIR')
            [CompletionResult]::new('--share-read', '--share-read', [CompletionResultType]::ParameterName, 'Let a plugin''s servers read this folder, at the same path (repeatable); NAME=DIR as with --share')
            [CompletionResult]::new('--verify-every', '--verify-every', [CompletionResultType]::ParameterName, 'How old a server''s listing may be when a call relies on it, in seconds; 0 lists before each call [variable: `OZ0_VERIFY_EVERY`] [default: 2, and 30 for remote servers]')
            [CompletionResult]::new('--validate', '--validate', [CompletionResultType]::ParameterName, 'What becomes of structured results that do not match the output schema [variable: `OZ0_VALIDATE`] [default: warn]')
            [CompletionResult]::new('--arguments', '--arguments', [CompletionResultType]::ParameterName, 'Which arguments are let through [variable: `OZ0_ARGUMENTS`] [default: as-listed]')
            [CompletionResult]::new('--edge-grace', '--edge-grace', [CompletionResultType]::ParameterName, 'How long calls go on when the edge is lost, in seconds [variable: `OZ0_EDGE_GRACE`] [default: 3600]')
            [CompletionResult]::new('--approval-timeout', '--approval-timeout', [CompletionResultType]::ParameterName, 'How long a call waits for a person who is asked about it, in seconds; a day at most [variable: `OZ0_APPROVAL_TIMEOUT`] [default: 600]')
            [CompletionResult]::new('--ai-label', '--ai-label', [CompletionResultType]::ParameterName, 'The line put under text that a plugin marks as written for people by a machine [variable: `OZ0_AI_LABEL`] [default: [AI-generated]]')
            [CompletionResult]::new('--metrics-listen', '--metrics-listen', [CompletionResultType]::ParameterName, 'Serve /metrics, /healthz and /readyz on a port of their own, to anyone who reaches it [variable: `OZ0_METRICS_LISTEN`] [default: none]')
            [CompletionResult]::new('--log', '--log', [CompletionResultType]::ParameterName, 'Log to standard error, in place of what is said there otherwise: a level, or directives such as `info,oz0::call=debug` [variable: `OZ0_LOG`] [default: off, and info where a format is given]')
            [CompletionResult]::new('--log-format', '--log-format', [CompletionResultType]::ParameterName, 'How the log is written; json is an object a line [variable: `OZ0_LOG_FORMAT`] [default: text]')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour what is printed [variable: `OZ0_COLOR`] [default: auto]')
            [CompletionResult]::new('--cache', '--cache', [CompletionResultType]::ParameterName, 'Where locked environments are kept [variable: `OZ0_CACHE`] [default: ~/.cache/oz0]')
            [CompletionResult]::new('--data', '--data', [CompletionResultType]::ParameterName, 'Where plugins, approvals and tokens are kept, and the edge''s socket [variable: `OZ0_DATA`] [default: ~/.local/share/oz0]')
            [CompletionResult]::new('--edge', '--edge', [CompletionResultType]::ParameterName, 'The edge to speak to, instead of the one of the data folder [variable: `OZ0_EDGE`]')
            [CompletionResult]::new('--mcp-auth', '--mcp-auth', [CompletionResultType]::ParameterName, 'Let only MCP clients in that show a token: oz0 token create --client NAME')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print the first line as JSON')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Say only what went wrong, and the result')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Say only what went wrong, and the result')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            break
        }
        'oz0;mcp' {
            [CompletionResult]::new('--secret', '--secret', [CompletionResultType]::ParameterName, 'Give a secret its value from this environment, to each plugin that declares it when it is started (repeatable); to one plugin alone: PLUGIN=NAME')
            [CompletionResult]::new('--share', '--share', [CompletionResultType]::ParameterName, 'Let a plugin''s servers read and write this folder, at the same path (repeatable); where several plugins run, say which: NAME=DIR')
            [CompletionResult]::new('--share-read', '--share-read', [CompletionResultType]::ParameterName, 'Let a plugin''s servers read this folder, at the same path (repeatable); NAME=DIR as with --share')
            [CompletionResult]::new('--verify-every', '--verify-every', [CompletionResultType]::ParameterName, 'How old a server''s listing may be when a call relies on it, in seconds; 0 lists before each call [variable: `OZ0_VERIFY_EVERY`] [default: 2, and 30 for remote servers]')
            [CompletionResult]::new('--validate', '--validate', [CompletionResultType]::ParameterName, 'What becomes of structured results that do not match the output schema [variable: `OZ0_VALIDATE`] [default: warn]')
            [CompletionResult]::new('--arguments', '--arguments', [CompletionResultType]::ParameterName, 'Which arguments are let through [variable: `OZ0_ARGUMENTS`] [default: as-listed]')
            [CompletionResult]::new('--edge-grace', '--edge-grace', [CompletionResultType]::ParameterName, 'How long calls go on when the edge is lost, in seconds [variable: `OZ0_EDGE_GRACE`] [default: 3600]')
            [CompletionResult]::new('--approval-timeout', '--approval-timeout', [CompletionResultType]::ParameterName, 'How long a call waits for a person who is asked about it, in seconds; a day at most [variable: `OZ0_APPROVAL_TIMEOUT`] [default: 600]')
            [CompletionResult]::new('--ai-label', '--ai-label', [CompletionResultType]::ParameterName, 'The line put under text that a plugin marks as written for people by a machine [variable: `OZ0_AI_LABEL`] [default: [AI-generated]]')
            [CompletionResult]::new('--log', '--log', [CompletionResultType]::ParameterName, 'Log to standard error, in place of what is said there otherwise: a level, or directives such as `info,oz0::call=debug` [variable: `OZ0_LOG`] [default: off, and info where a format is given]')
            [CompletionResult]::new('--log-format', '--log-format', [CompletionResultType]::ParameterName, 'How the log is written; json is an object a line [variable: `OZ0_LOG_FORMAT`] [default: text]')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour what is printed [variable: `OZ0_COLOR`] [default: auto]')
            [CompletionResult]::new('--cache', '--cache', [CompletionResultType]::ParameterName, 'Where locked environments are kept [variable: `OZ0_CACHE`] [default: ~/.cache/oz0]')
            [CompletionResult]::new('--data', '--data', [CompletionResultType]::ParameterName, 'Where plugins, approvals and tokens are kept, and the edge''s socket [variable: `OZ0_DATA`] [default: ~/.local/share/oz0]')
            [CompletionResult]::new('--edge', '--edge', [CompletionResultType]::ParameterName, 'The edge to speak to, instead of the one of the data folder [variable: `OZ0_EDGE`]')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Say only what went wrong, and the result')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Say only what went wrong, and the result')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            break
        }
        'oz0;edge' {
            [CompletionResult]::new('--listen', '--listen', [CompletionResultType]::ParameterName, 'Where it listens; port 0 picks a free one [variable: `OZ0_LISTEN`] [default: 127.0.0.1:7070]')
            [CompletionResult]::new('--host', '--host', [CompletionResultType]::ParameterName, 'Another name that this machine is reached by (repeatable); requests for other names are refused')
            [CompletionResult]::new('--public-url', '--public-url', [CompletionResultType]::ParameterName, 'Where people reach the console, of a proxy that stands in front: `https://oz0.example` [variable: `OZ0_PUBLIC_URL`]')
            [CompletionResult]::new('--trusted-proxy', '--trusted-proxy', [CompletionResultType]::ParameterName, 'A proxy that is believed when it says whom it stands for: an address, or a network (repeatable)')
            [CompletionResult]::new('--tls-cert', '--tls-cert', [CompletionResultType]::ParameterName, 'The certificate to show, with its chain, in PEM')
            [CompletionResult]::new('--tls-key', '--tls-key', [CompletionResultType]::ParameterName, 'Its private key, in PEM')
            [CompletionResult]::new('--store', '--store', [CompletionResultType]::ParameterName, 'The PostgreSQL database to keep the store in, which other edges may use as well; a file in the data folder otherwise. An address with a password is better given in the variable, which other users do not see [variable: `OZ0_STORE`]')
            [CompletionResult]::new('--bundles', '--bundles', [CompletionResultType]::ParameterName, 'Where bundles are kept: a folder, or `s3://BUCKET[/PREFIX]` with region, endpoint and credentials in the variables that Amazon''s tools read [variable: `OZ0_BUNDLES`] [default: `bundles` in the data folder]')
            [CompletionResult]::new('--metrics-listen', '--metrics-listen', [CompletionResultType]::ParameterName, 'Serve /metrics, /healthz and /readyz on a port of their own, to anyone who reaches it [variable: `OZ0_METRICS_LISTEN`] [default: none]')
            [CompletionResult]::new('--log', '--log', [CompletionResultType]::ParameterName, 'Log to standard error, in place of what is said there otherwise: a level, or directives such as `info,oz0::call=debug` [variable: `OZ0_LOG`] [default: off, and info where a format is given]')
            [CompletionResult]::new('--log-format', '--log-format', [CompletionResultType]::ParameterName, 'How the log is written; json is an object a line [variable: `OZ0_LOG_FORMAT`] [default: text]')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour what is printed [variable: `OZ0_COLOR`] [default: auto]')
            [CompletionResult]::new('--cache', '--cache', [CompletionResultType]::ParameterName, 'Where locked environments are kept [variable: `OZ0_CACHE`] [default: ~/.cache/oz0]')
            [CompletionResult]::new('--data', '--data', [CompletionResultType]::ParameterName, 'Where plugins, approvals and tokens are kept, and the edge''s socket [variable: `OZ0_DATA`] [default: ~/.local/share/oz0]')
            [CompletionResult]::new('--edge', '--edge', [CompletionResultType]::ParameterName, 'The edge to speak to, instead of the one of the data folder [variable: `OZ0_EDGE`]')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print the first line as JSON')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Say only what went wrong, and the result')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Say only what went wrong, and the result')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('migrate', 'migrate', [CompletionResultType]::ParameterValue, 'Bring a store''s schema to what this oz0 reads')
            [CompletionResult]::new('backup', 'backup', [CompletionResultType]::ParameterValue, 'Write the store and its bundles into a new file, also while an edge runs')
            [CompletionResult]::new('restore', 'restore', [CompletionResultType]::ParameterValue, 'Bring a backup into a store that is not there yet')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'oz0;edge;migrate' {
            [CompletionResult]::new('--store', '--store', [CompletionResultType]::ParameterName, 'The PostgreSQL database to keep the store in, which other edges may use as well; a file in the data folder otherwise. An address with a password is better given in the variable, which other users do not see [variable: `OZ0_STORE`]')
            [CompletionResult]::new('--bundles', '--bundles', [CompletionResultType]::ParameterName, 'Where bundles are kept: a folder, or `s3://BUCKET[/PREFIX]` with region, endpoint and credentials in the variables that Amazon''s tools read [variable: `OZ0_BUNDLES`] [default: `bundles` in the data folder]')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour what is printed [variable: `OZ0_COLOR`] [default: auto]')
            [CompletionResult]::new('--cache', '--cache', [CompletionResultType]::ParameterName, 'Where locked environments are kept [variable: `OZ0_CACHE`] [default: ~/.cache/oz0]')
            [CompletionResult]::new('--data', '--data', [CompletionResultType]::ParameterName, 'Where plugins, approvals and tokens are kept, and the edge''s socket [variable: `OZ0_DATA`] [default: ~/.local/share/oz0]')
            [CompletionResult]::new('--edge', '--edge', [CompletionResultType]::ParameterName, 'The edge to speak to, instead of the one of the data folder [variable: `OZ0_EDGE`]')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Say only what went wrong, and the result')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Say only what went wrong, and the result')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            break
        }
        'oz0;edge;backup' {
            [CompletionResult]::new('--store', '--store', [CompletionResultType]::ParameterName, 'The PostgreSQL database to keep the store in, which other edges may use as well; a file in the data folder otherwise. An address with a password is better given in the variable, which other users do not see [variable: `OZ0_STORE`]')
            [CompletionResult]::new('--bundles', '--bundles', [CompletionResultType]::ParameterName, 'Where bundles are kept: a folder, or `s3://BUCKET[/PREFIX]` with region, endpoint and credentials in the variables that Amazon''s tools read [variable: `OZ0_BUNDLES`] [default: `bundles` in the data folder]')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour what is printed [variable: `OZ0_COLOR`] [default: auto]')
            [CompletionResult]::new('--cache', '--cache', [CompletionResultType]::ParameterName, 'Where locked environments are kept [variable: `OZ0_CACHE`] [default: ~/.cache/oz0]')
            [CompletionResult]::new('--data', '--data', [CompletionResultType]::ParameterName, 'Where plugins, approvals and tokens are kept, and the edge''s socket [variable: `OZ0_DATA`] [default: ~/.local/share/oz0]')
            [CompletionResult]::new('--edge', '--edge', [CompletionResultType]::ParameterName, 'The edge to speak to, instead of the one of the data folder [variable: `OZ0_EDGE`]')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Say only what went wrong, and the result')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Say only what went wrong, and the result')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            break
        }
        'oz0;edge;restore' {
            [CompletionResult]::new('--store', '--store', [CompletionResultType]::ParameterName, 'The PostgreSQL database to keep the store in, which other edges may use as well; a file in the data folder otherwise. An address with a password is better given in the variable, which other users do not see [variable: `OZ0_STORE`]')
            [CompletionResult]::new('--bundles', '--bundles', [CompletionResultType]::ParameterName, 'Where bundles are kept: a folder, or `s3://BUCKET[/PREFIX]` with region, endpoint and credentials in the variables that Amazon''s tools read [variable: `OZ0_BUNDLES`] [default: `bundles` in the data folder]')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour what is printed [variable: `OZ0_COLOR`] [default: auto]')
            [CompletionResult]::new('--cache', '--cache', [CompletionResultType]::ParameterName, 'Where locked environments are kept [variable: `OZ0_CACHE`] [default: ~/.cache/oz0]')
            [CompletionResult]::new('--data', '--data', [CompletionResultType]::ParameterName, 'Where plugins, approvals and tokens are kept, and the edge''s socket [variable: `OZ0_DATA`] [default: ~/.local/share/oz0]')
            [CompletionResult]::new('--edge', '--edge', [CompletionResultType]::ParameterName, 'The edge to speak to, instead of the one of the data folder [variable: `OZ0_EDGE`]')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Say only what went wrong, and the result')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Say only what went wrong, and the result')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            break
        }
        'oz0;edge;help' {
            [CompletionResult]::new('migrate', 'migrate', [CompletionResultType]::ParameterValue, 'Bring a store''s schema to what this oz0 reads')
            [CompletionResult]::new('backup', 'backup', [CompletionResultType]::ParameterValue, 'Write the store and its bundles into a new file, also while an edge runs')
            [CompletionResult]::new('restore', 'restore', [CompletionResultType]::ParameterValue, 'Bring a backup into a store that is not there yet')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'oz0;edge;help;migrate' {
            break
        }
        'oz0;edge;help;backup' {
            break
        }
        'oz0;edge;help;restore' {
            break
        }
        'oz0;edge;help;help' {
            break
        }
        'oz0;wrap' {
            [CompletionResult]::new('--dir', '--dir', [CompletionResultType]::ParameterName, 'The folder to write: a new one, or the one of the server''s own project [default: one of the plugin''s name here]')
            [CompletionResult]::new('--name', '--name', [CompletionResultType]::ParameterName, 'The plugin''s name [default: made of the server''s]')
            [CompletionResult]::new('-e', '-e', [CompletionResultType]::ParameterName, 'Give the server this variable; the manifest has its value (repeatable)')
            [CompletionResult]::new('--env', '--env', [CompletionResultType]::ParameterName, 'Give the server this variable; the manifest has its value (repeatable)')
            [CompletionResult]::new('--secret', '--secret', [CompletionResultType]::ParameterName, 'A variable that is a secret: the manifest has its name alone, and whoever runs the plugin hands its value over (repeatable)')
            [CompletionResult]::new('--egress', '--egress', [CompletionResultType]::ParameterName, 'A host that the server reaches (repeatable); without one it has no network')
            [CompletionResult]::new('--license', '--license', [CompletionResultType]::ParameterName, 'The plugin''s licence, as an SPDX expression')
            [CompletionResult]::new('--url', '--url', [CompletionResultType]::ParameterName, 'Wrap a remote server')
            [CompletionResult]::new('--header', '--header', [CompletionResultType]::ParameterName, 'A header of requests to the remote server; the manifest has its value (repeatable)')
            [CompletionResult]::new('--from', '--from', [CompletionResultType]::ParameterName, 'Wrap a server of a client''s configuration: its name, where there are several, stands behind')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour what is printed [variable: `OZ0_COLOR`] [default: auto]')
            [CompletionResult]::new('--cache', '--cache', [CompletionResultType]::ParameterName, 'Where locked environments are kept [variable: `OZ0_CACHE`] [default: ~/.cache/oz0]')
            [CompletionResult]::new('--data', '--data', [CompletionResultType]::ParameterName, 'Where plugins, approvals and tokens are kept, and the edge''s socket [variable: `OZ0_DATA`] [default: ~/.local/share/oz0]')
            [CompletionResult]::new('--edge', '--edge', [CompletionResultType]::ParameterName, 'The edge to speak to, instead of the one of the data folder [variable: `OZ0_EDGE`]')
            [CompletionResult]::new('--force', '--force', [CompletionResultType]::ParameterName, 'Write over files that are there')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Say only what went wrong, and the result')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Say only what went wrong, and the result')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            break
        }
        'oz0;plugin' {
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour what is printed [variable: `OZ0_COLOR`] [default: auto]')
            [CompletionResult]::new('--cache', '--cache', [CompletionResultType]::ParameterName, 'Where locked environments are kept [variable: `OZ0_CACHE`] [default: ~/.cache/oz0]')
            [CompletionResult]::new('--data', '--data', [CompletionResultType]::ParameterName, 'Where plugins, approvals and tokens are kept, and the edge''s socket [variable: `OZ0_DATA`] [default: ~/.local/share/oz0]')
            [CompletionResult]::new('--edge', '--edge', [CompletionResultType]::ParameterName, 'The edge to speak to, instead of the one of the data folder [variable: `OZ0_EDGE`]')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Say only what went wrong, and the result')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Say only what went wrong, and the result')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('new', 'new', [CompletionResultType]::ParameterValue, 'Write a new plugin from a template')
            [CompletionResult]::new('test', 'test', [CompletionResultType]::ParameterValue, 'Start a plugin''s servers, and write what they list into tools.listing.json')
            [CompletionResult]::new('lint', 'lint', [CompletionResultType]::ParameterValue, 'Check a plugin against the house rules; runs nothing of it')
            [CompletionResult]::new('explain', 'explain', [CompletionResultType]::ParameterValue, 'Print a rule''s page: what it finds, why, and what to do')
            [CompletionResult]::new('inspect', 'inspect', [CompletionResultType]::ParameterValue, 'Show a plugin, a folder or a bundle, and its measured listing; runs nothing of it')
            [CompletionResult]::new('pack', 'pack', [CompletionResultType]::ParameterValue, 'Pack a plugin into one file, NAME-VERSION.oz0, for others to install')
            [CompletionResult]::new('install', 'install', [CompletionResultType]::ParameterValue, 'Install a plugin, a folder or a bundle, on every node')
            [CompletionResult]::new('update', 'update', [CompletionResultType]::ParameterValue, 'Run another version of an installed plugin, on every node or on some of them first')
            [CompletionResult]::new('promote', 'promote', [CompletionResultType]::ParameterValue, 'Run a plugin''s candidate on every node')
            [CompletionResult]::new('rollback', 'rollback', [CompletionResultType]::ParameterValue, 'Take a plugin''s candidate back, or without one go back to the version before')
            [CompletionResult]::new('list', 'list', [CompletionResultType]::ParameterValue, 'Show the installed plugins: what runs where, what waits for approval, what is left out, what failed')
            [CompletionResult]::new('approve-tools', 'approve-tools', [CompletionResultType]::ParameterValue, 'Look at what changed in a plugin''s tools, and approve it')
            [CompletionResult]::new('remove', 'remove', [CompletionResultType]::ParameterValue, 'Remove a plugin: nodes stop running it, and what was approved of it stays known')
            [CompletionResult]::new('schema', 'schema', [CompletionResultType]::ParameterValue, 'Print the JSON Schema of oz0-plugin.yaml')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'oz0;plugin;new' {
            [CompletionResult]::new('-t', '-t', [CompletionResultType]::ParameterName, 'What to begin with')
            [CompletionResult]::new('--template', '--template', [CompletionResultType]::ParameterName, 'What to begin with')
            [CompletionResult]::new('--dir', '--dir', [CompletionResultType]::ParameterName, 'The folder to write, which is new or empty [default: one of the plugin''s name here]')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour what is printed [variable: `OZ0_COLOR`] [default: auto]')
            [CompletionResult]::new('--cache', '--cache', [CompletionResultType]::ParameterName, 'Where locked environments are kept [variable: `OZ0_CACHE`] [default: ~/.cache/oz0]')
            [CompletionResult]::new('--data', '--data', [CompletionResultType]::ParameterName, 'Where plugins, approvals and tokens are kept, and the edge''s socket [variable: `OZ0_DATA`] [default: ~/.local/share/oz0]')
            [CompletionResult]::new('--edge', '--edge', [CompletionResultType]::ParameterName, 'The edge to speak to, instead of the one of the data folder [variable: `OZ0_EDGE`]')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Say only what went wrong, and the result')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Say only what went wrong, and the result')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            break
        }
        'oz0;plugin;test' {
            [CompletionResult]::new('--secret', '--secret', [CompletionResultType]::ParameterName, 'Give a secret of requires its value from this environment (repeatable); a required one is a placeholder otherwise')
            [CompletionResult]::new('--share', '--share', [CompletionResultType]::ParameterName, 'Let the servers read and write this folder, at the same path (repeatable)')
            [CompletionResult]::new('--share-read', '--share-read', [CompletionResultType]::ParameterName, 'Let the servers read this folder, at the same path (repeatable)')
            [CompletionResult]::new('--era', '--era', [CompletionResultType]::ParameterName, 'Which era of the protocol to open connections in: try the modern one first, or just one')
            [CompletionResult]::new('--timeout', '--timeout', [CompletionResultType]::ParameterName, 'How long a server may take to start and list, in seconds')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour what is printed [variable: `OZ0_COLOR`] [default: auto]')
            [CompletionResult]::new('--cache', '--cache', [CompletionResultType]::ParameterName, 'Where locked environments are kept [variable: `OZ0_CACHE`] [default: ~/.cache/oz0]')
            [CompletionResult]::new('--data', '--data', [CompletionResultType]::ParameterName, 'Where plugins, approvals and tokens are kept, and the edge''s socket [variable: `OZ0_DATA`] [default: ~/.local/share/oz0]')
            [CompletionResult]::new('--edge', '--edge', [CompletionResultType]::ParameterName, 'The edge to speak to, instead of the one of the data folder [variable: `OZ0_EDGE`]')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print the report as JSON')
            [CompletionResult]::new('--relock', '--relock', [CompletionResultType]::ParameterName, 'Resolve the dependencies of package: tools anew, and write their locks')
            [CompletionResult]::new('--check', '--check', [CompletionResultType]::ParameterName, 'Write nothing, and fail if tools.listing.json or a lock is not what would be written')
            [CompletionResult]::new('--no-contract-tests', '--no-contract-tests', [CompletionResultType]::ParameterName, 'Leave out the contract tests in tests/')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Say only what went wrong, and the result')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Say only what went wrong, and the result')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            break
        }
        'oz0;plugin;lint' {
            [CompletionResult]::new('--rule', '--rule', [CompletionResultType]::ParameterName, 'Run only this rule (repeatable): its code or its name; what the loader finds is told in any case')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'How to print the findings')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'Write the findings into a file as well (repeatable)')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour what is printed [variable: `OZ0_COLOR`] [default: auto]')
            [CompletionResult]::new('--cache', '--cache', [CompletionResultType]::ParameterName, 'Where locked environments are kept [variable: `OZ0_CACHE`] [default: ~/.cache/oz0]')
            [CompletionResult]::new('--data', '--data', [CompletionResultType]::ParameterName, 'Where plugins, approvals and tokens are kept, and the edge''s socket [variable: `OZ0_DATA`] [default: ~/.local/share/oz0]')
            [CompletionResult]::new('--edge', '--edge', [CompletionResultType]::ParameterName, 'The edge to speak to, instead of the one of the data folder [variable: `OZ0_EDGE`]')
            [CompletionResult]::new('--verified', '--verified', [CompletionResultType]::ParameterName, 'Hold the plugin to the level of verified plugins')
            [CompletionResult]::new('--fix', '--fix', [CompletionResultType]::ParameterName, 'Make the changes that cannot alter what the plugin does')
            [CompletionResult]::new('--diff', '--diff', [CompletionResultType]::ParameterName, 'Show what --fix would change, and write nothing')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print the findings as JSON')
            [CompletionResult]::new('--list-rules', '--list-rules', [CompletionResultType]::ParameterName, 'List the rules')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Say only what went wrong, and the result')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Say only what went wrong, and the result')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            break
        }
        'oz0;plugin;explain' {
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour what is printed [variable: `OZ0_COLOR`] [default: auto]')
            [CompletionResult]::new('--cache', '--cache', [CompletionResultType]::ParameterName, 'Where locked environments are kept [variable: `OZ0_CACHE`] [default: ~/.cache/oz0]')
            [CompletionResult]::new('--data', '--data', [CompletionResultType]::ParameterName, 'Where plugins, approvals and tokens are kept, and the edge''s socket [variable: `OZ0_DATA`] [default: ~/.local/share/oz0]')
            [CompletionResult]::new('--edge', '--edge', [CompletionResultType]::ParameterName, 'The edge to speak to, instead of the one of the data folder [variable: `OZ0_EDGE`]')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print it as JSON')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Say only what went wrong, and the result')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Say only what went wrong, and the result')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            break
        }
        'oz0;plugin;inspect' {
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour what is printed [variable: `OZ0_COLOR`] [default: auto]')
            [CompletionResult]::new('--cache', '--cache', [CompletionResultType]::ParameterName, 'Where locked environments are kept [variable: `OZ0_CACHE`] [default: ~/.cache/oz0]')
            [CompletionResult]::new('--data', '--data', [CompletionResultType]::ParameterName, 'Where plugins, approvals and tokens are kept, and the edge''s socket [variable: `OZ0_DATA`] [default: ~/.local/share/oz0]')
            [CompletionResult]::new('--edge', '--edge', [CompletionResultType]::ParameterName, 'The edge to speak to, instead of the one of the data folder [variable: `OZ0_EDGE`]')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print it as JSON')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Say only what went wrong, and the result')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Say only what went wrong, and the result')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            break
        }
        'oz0;plugin;pack' {
            [CompletionResult]::new('--secret', '--secret', [CompletionResultType]::ParameterName, 'With --list-tools, give a secret of requires its value from this environment (repeatable)')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'Where to write the bundle: a file, or a folder for NAME-VERSION.oz0 [default: the working folder]')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'Where to write the bundle: a file, or a folder for NAME-VERSION.oz0 [default: the working folder]')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour what is printed [variable: `OZ0_COLOR`] [default: auto]')
            [CompletionResult]::new('--cache', '--cache', [CompletionResultType]::ParameterName, 'Where locked environments are kept [variable: `OZ0_CACHE`] [default: ~/.cache/oz0]')
            [CompletionResult]::new('--data', '--data', [CompletionResultType]::ParameterName, 'Where plugins, approvals and tokens are kept, and the edge''s socket [variable: `OZ0_DATA`] [default: ~/.local/share/oz0]')
            [CompletionResult]::new('--edge', '--edge', [CompletionResultType]::ParameterName, 'The edge to speak to, instead of the one of the data folder [variable: `OZ0_EDGE`]')
            [CompletionResult]::new('--list-tools', '--list-tools', [CompletionResultType]::ParameterName, 'First start the plugin''s servers, and write what they list into tools.listing.json')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Say only what went wrong, and the result')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Say only what went wrong, and the result')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            break
        }
        'oz0;plugin;install' {
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour what is printed [variable: `OZ0_COLOR`] [default: auto]')
            [CompletionResult]::new('--cache', '--cache', [CompletionResultType]::ParameterName, 'Where locked environments are kept [variable: `OZ0_CACHE`] [default: ~/.cache/oz0]')
            [CompletionResult]::new('--data', '--data', [CompletionResultType]::ParameterName, 'Where plugins, approvals and tokens are kept, and the edge''s socket [variable: `OZ0_DATA`] [default: ~/.local/share/oz0]')
            [CompletionResult]::new('--edge', '--edge', [CompletionResultType]::ParameterName, 'The edge to speak to, instead of the one of the data folder [variable: `OZ0_EDGE`]')
            [CompletionResult]::new('--show', '--show', [CompletionResultType]::ParameterName, 'Only show what would be installed, and what differs from the version that is installed now')
            [CompletionResult]::new('--yes', '--yes', [CompletionResultType]::ParameterName, 'Install without asking a version whose functions differ from the installed one''s, or cannot be compared')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print as JSON: what is installed, or with --show what differs')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Say only what went wrong, and the result')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Say only what went wrong, and the result')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            break
        }
        'oz0;plugin;update' {
            [CompletionResult]::new('--canary', '--canary', [CompletionResultType]::ParameterName, 'Run it on these nodes only, as a candidate')
            [CompletionResult]::new('--percent', '--percent', [CompletionResultType]::ParameterName, 'Run it on so many of a hundred nodes only, as a candidate; a node that is in stays in when this grows')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour what is printed [variable: `OZ0_COLOR`] [default: auto]')
            [CompletionResult]::new('--cache', '--cache', [CompletionResultType]::ParameterName, 'Where locked environments are kept [variable: `OZ0_CACHE`] [default: ~/.cache/oz0]')
            [CompletionResult]::new('--data', '--data', [CompletionResultType]::ParameterName, 'Where plugins, approvals and tokens are kept, and the edge''s socket [variable: `OZ0_DATA`] [default: ~/.local/share/oz0]')
            [CompletionResult]::new('--edge', '--edge', [CompletionResultType]::ParameterName, 'The edge to speak to, instead of the one of the data folder [variable: `OZ0_EDGE`]')
            [CompletionResult]::new('--downgrade', '--downgrade', [CompletionResultType]::ParameterName, 'Also in place of a newer version')
            [CompletionResult]::new('--show', '--show', [CompletionResultType]::ParameterName, 'Only show what would be installed, and what differs from the version that is installed now')
            [CompletionResult]::new('--yes', '--yes', [CompletionResultType]::ParameterName, 'Do not ask about a version whose functions differ from the installed one''s, or cannot be compared, or that asks for more')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print as JSON: what is installed, or with --show what differs')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Say only what went wrong, and the result')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Say only what went wrong, and the result')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            break
        }
        'oz0;plugin;promote' {
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour what is printed [variable: `OZ0_COLOR`] [default: auto]')
            [CompletionResult]::new('--cache', '--cache', [CompletionResultType]::ParameterName, 'Where locked environments are kept [variable: `OZ0_CACHE`] [default: ~/.cache/oz0]')
            [CompletionResult]::new('--data', '--data', [CompletionResultType]::ParameterName, 'Where plugins, approvals and tokens are kept, and the edge''s socket [variable: `OZ0_DATA`] [default: ~/.local/share/oz0]')
            [CompletionResult]::new('--edge', '--edge', [CompletionResultType]::ParameterName, 'The edge to speak to, instead of the one of the data folder [variable: `OZ0_EDGE`]')
            [CompletionResult]::new('--yes', '--yes', [CompletionResultType]::ParameterName, 'Do not ask, whatever speaks against it')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print what is installed then as JSON')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Say only what went wrong, and the result')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Say only what went wrong, and the result')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            break
        }
        'oz0;plugin;rollback' {
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour what is printed [variable: `OZ0_COLOR`] [default: auto]')
            [CompletionResult]::new('--cache', '--cache', [CompletionResultType]::ParameterName, 'Where locked environments are kept [variable: `OZ0_CACHE`] [default: ~/.cache/oz0]')
            [CompletionResult]::new('--data', '--data', [CompletionResultType]::ParameterName, 'Where plugins, approvals and tokens are kept, and the edge''s socket [variable: `OZ0_DATA`] [default: ~/.local/share/oz0]')
            [CompletionResult]::new('--edge', '--edge', [CompletionResultType]::ParameterName, 'The edge to speak to, instead of the one of the data folder [variable: `OZ0_EDGE`]')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print what is installed then as JSON')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Say only what went wrong, and the result')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Say only what went wrong, and the result')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            break
        }
        'oz0;plugin;list' {
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour what is printed [variable: `OZ0_COLOR`] [default: auto]')
            [CompletionResult]::new('--cache', '--cache', [CompletionResultType]::ParameterName, 'Where locked environments are kept [variable: `OZ0_CACHE`] [default: ~/.cache/oz0]')
            [CompletionResult]::new('--data', '--data', [CompletionResultType]::ParameterName, 'Where plugins, approvals and tokens are kept, and the edge''s socket [variable: `OZ0_DATA`] [default: ~/.local/share/oz0]')
            [CompletionResult]::new('--edge', '--edge', [CompletionResultType]::ParameterName, 'The edge to speak to, instead of the one of the data folder [variable: `OZ0_EDGE`]')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print them as JSON')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Say only what went wrong, and the result')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Say only what went wrong, and the result')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            break
        }
        'oz0;plugin;approve-tools' {
            [CompletionResult]::new('--change', '--change', [CompletionResultType]::ParameterName, 'Take this change (repeatable): its ID; where it is shown first, 8 digits that begin no other''s are enough')
            [CompletionResult]::new('--function', '--function', [CompletionResultType]::ParameterName, 'Take what waits of this function (repeatable)')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour what is printed [variable: `OZ0_COLOR`] [default: auto]')
            [CompletionResult]::new('--cache', '--cache', [CompletionResultType]::ParameterName, 'Where locked environments are kept [variable: `OZ0_CACHE`] [default: ~/.cache/oz0]')
            [CompletionResult]::new('--data', '--data', [CompletionResultType]::ParameterName, 'Where plugins, approvals and tokens are kept, and the edge''s socket [variable: `OZ0_DATA`] [default: ~/.local/share/oz0]')
            [CompletionResult]::new('--edge', '--edge', [CompletionResultType]::ParameterName, 'The edge to speak to, instead of the one of the data folder [variable: `OZ0_EDGE`]')
            [CompletionResult]::new('--show', '--show', [CompletionResultType]::ParameterName, 'Only show what waits')
            [CompletionResult]::new('--yes', '--yes', [CompletionResultType]::ParameterName, 'Approve without asking what --change names')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print as JSON: what waits with --show, what was approved with --yes')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Say only what went wrong, and the result')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Say only what went wrong, and the result')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            break
        }
        'oz0;plugin;remove' {
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour what is printed [variable: `OZ0_COLOR`] [default: auto]')
            [CompletionResult]::new('--cache', '--cache', [CompletionResultType]::ParameterName, 'Where locked environments are kept [variable: `OZ0_CACHE`] [default: ~/.cache/oz0]')
            [CompletionResult]::new('--data', '--data', [CompletionResultType]::ParameterName, 'Where plugins, approvals and tokens are kept, and the edge''s socket [variable: `OZ0_DATA`] [default: ~/.local/share/oz0]')
            [CompletionResult]::new('--edge', '--edge', [CompletionResultType]::ParameterName, 'The edge to speak to, instead of the one of the data folder [variable: `OZ0_EDGE`]')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Say only what went wrong, and the result')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Say only what went wrong, and the result')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            break
        }
        'oz0;plugin;schema' {
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour what is printed [variable: `OZ0_COLOR`] [default: auto]')
            [CompletionResult]::new('--cache', '--cache', [CompletionResultType]::ParameterName, 'Where locked environments are kept [variable: `OZ0_CACHE`] [default: ~/.cache/oz0]')
            [CompletionResult]::new('--data', '--data', [CompletionResultType]::ParameterName, 'Where plugins, approvals and tokens are kept, and the edge''s socket [variable: `OZ0_DATA`] [default: ~/.local/share/oz0]')
            [CompletionResult]::new('--edge', '--edge', [CompletionResultType]::ParameterName, 'The edge to speak to, instead of the one of the data folder [variable: `OZ0_EDGE`]')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Say only what went wrong, and the result')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Say only what went wrong, and the result')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            break
        }
        'oz0;plugin;help' {
            [CompletionResult]::new('new', 'new', [CompletionResultType]::ParameterValue, 'Write a new plugin from a template')
            [CompletionResult]::new('test', 'test', [CompletionResultType]::ParameterValue, 'Start a plugin''s servers, and write what they list into tools.listing.json')
            [CompletionResult]::new('lint', 'lint', [CompletionResultType]::ParameterValue, 'Check a plugin against the house rules; runs nothing of it')
            [CompletionResult]::new('explain', 'explain', [CompletionResultType]::ParameterValue, 'Print a rule''s page: what it finds, why, and what to do')
            [CompletionResult]::new('inspect', 'inspect', [CompletionResultType]::ParameterValue, 'Show a plugin, a folder or a bundle, and its measured listing; runs nothing of it')
            [CompletionResult]::new('pack', 'pack', [CompletionResultType]::ParameterValue, 'Pack a plugin into one file, NAME-VERSION.oz0, for others to install')
            [CompletionResult]::new('install', 'install', [CompletionResultType]::ParameterValue, 'Install a plugin, a folder or a bundle, on every node')
            [CompletionResult]::new('update', 'update', [CompletionResultType]::ParameterValue, 'Run another version of an installed plugin, on every node or on some of them first')
            [CompletionResult]::new('promote', 'promote', [CompletionResultType]::ParameterValue, 'Run a plugin''s candidate on every node')
            [CompletionResult]::new('rollback', 'rollback', [CompletionResultType]::ParameterValue, 'Take a plugin''s candidate back, or without one go back to the version before')
            [CompletionResult]::new('list', 'list', [CompletionResultType]::ParameterValue, 'Show the installed plugins: what runs where, what waits for approval, what is left out, what failed')
            [CompletionResult]::new('approve-tools', 'approve-tools', [CompletionResultType]::ParameterValue, 'Look at what changed in a plugin''s tools, and approve it')
            [CompletionResult]::new('remove', 'remove', [CompletionResultType]::ParameterValue, 'Remove a plugin: nodes stop running it, and what was approved of it stays known')
            [CompletionResult]::new('schema', 'schema', [CompletionResultType]::ParameterValue, 'Print the JSON Schema of oz0-plugin.yaml')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'oz0;plugin;help;new' {
            break
        }
        'oz0;plugin;help;test' {
            break
        }
        'oz0;plugin;help;lint' {
            break
        }
        'oz0;plugin;help;explain' {
            break
        }
        'oz0;plugin;help;inspect' {
            break
        }
        'oz0;plugin;help;pack' {
            break
        }
        'oz0;plugin;help;install' {
            break
        }
        'oz0;plugin;help;update' {
            break
        }
        'oz0;plugin;help;promote' {
            break
        }
        'oz0;plugin;help;rollback' {
            break
        }
        'oz0;plugin;help;list' {
            break
        }
        'oz0;plugin;help;approve-tools' {
            break
        }
        'oz0;plugin;help;remove' {
            break
        }
        'oz0;plugin;help;schema' {
            break
        }
        'oz0;plugin;help;help' {
            break
        }
        'oz0;lsp' {
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour what is printed [variable: `OZ0_COLOR`] [default: auto]')
            [CompletionResult]::new('--cache', '--cache', [CompletionResultType]::ParameterName, 'Where locked environments are kept [variable: `OZ0_CACHE`] [default: ~/.cache/oz0]')
            [CompletionResult]::new('--data', '--data', [CompletionResultType]::ParameterName, 'Where plugins, approvals and tokens are kept, and the edge''s socket [variable: `OZ0_DATA`] [default: ~/.local/share/oz0]')
            [CompletionResult]::new('--edge', '--edge', [CompletionResultType]::ParameterName, 'The edge to speak to, instead of the one of the data folder [variable: `OZ0_EDGE`]')
            [CompletionResult]::new('--verified', '--verified', [CompletionResultType]::ParameterName, 'Hold plugins to the level of verified plugins, whatever the editor''s settings say')
            [CompletionResult]::new('--stdio', '--stdio', [CompletionResultType]::ParameterName, 'Speak on standard input and output, as is done in any case: some editors say so to every server')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Say only what went wrong, and the result')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Say only what went wrong, and the result')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            break
        }
        'oz0;catalog' {
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour what is printed [variable: `OZ0_COLOR`] [default: auto]')
            [CompletionResult]::new('--cache', '--cache', [CompletionResultType]::ParameterName, 'Where locked environments are kept [variable: `OZ0_CACHE`] [default: ~/.cache/oz0]')
            [CompletionResult]::new('--data', '--data', [CompletionResultType]::ParameterName, 'Where plugins, approvals and tokens are kept, and the edge''s socket [variable: `OZ0_DATA`] [default: ~/.local/share/oz0]')
            [CompletionResult]::new('--edge', '--edge', [CompletionResultType]::ParameterName, 'The edge to speak to, instead of the one of the data folder [variable: `OZ0_EDGE`]')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print it as JSON, with every accepted listing and every listing that waits')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Say only what went wrong, and the result')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Say only what went wrong, and the result')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            break
        }
        'oz0;call' {
            [CompletionResult]::new('--node', '--node', [CompletionResultType]::ParameterName, 'The node to call it on; any that lists the function otherwise')
            [CompletionResult]::new('--timeout', '--timeout', [CompletionResultType]::ParameterName, 'How long to wait for the result, in seconds [default: 60, and for as long as a person is asked about the call]')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour what is printed [variable: `OZ0_COLOR`] [default: auto]')
            [CompletionResult]::new('--cache', '--cache', [CompletionResultType]::ParameterName, 'Where locked environments are kept [variable: `OZ0_CACHE`] [default: ~/.cache/oz0]')
            [CompletionResult]::new('--data', '--data', [CompletionResultType]::ParameterName, 'Where plugins, approvals and tokens are kept, and the edge''s socket [variable: `OZ0_DATA`] [default: ~/.local/share/oz0]')
            [CompletionResult]::new('--edge', '--edge', [CompletionResultType]::ParameterName, 'The edge to speak to, instead of the one of the data folder [variable: `OZ0_EDGE`]')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print the server''s result as it came, in JSON')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Say only what went wrong, and the result')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Say only what went wrong, and the result')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            break
        }
        'oz0;policy' {
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour what is printed [variable: `OZ0_COLOR`] [default: auto]')
            [CompletionResult]::new('--cache', '--cache', [CompletionResultType]::ParameterName, 'Where locked environments are kept [variable: `OZ0_CACHE`] [default: ~/.cache/oz0]')
            [CompletionResult]::new('--data', '--data', [CompletionResultType]::ParameterName, 'Where plugins, approvals and tokens are kept, and the edge''s socket [variable: `OZ0_DATA`] [default: ~/.local/share/oz0]')
            [CompletionResult]::new('--edge', '--edge', [CompletionResultType]::ParameterName, 'The edge to speak to, instead of the one of the data folder [variable: `OZ0_EDGE`]')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Say only what went wrong, and the result')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Say only what went wrong, and the result')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('list', 'list', [CompletionResultType]::ParameterValue, 'Show the rules, in the order in which they count')
            [CompletionResult]::new('set', 'set', [CompletionResultType]::ParameterValue, 'Say what happens to the calls of some functions')
            [CompletionResult]::new('unset', 'unset', [CompletionResultType]::ParameterValue, 'Take a rule away')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'oz0;policy;list' {
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour what is printed [variable: `OZ0_COLOR`] [default: auto]')
            [CompletionResult]::new('--cache', '--cache', [CompletionResultType]::ParameterName, 'Where locked environments are kept [variable: `OZ0_CACHE`] [default: ~/.cache/oz0]')
            [CompletionResult]::new('--data', '--data', [CompletionResultType]::ParameterName, 'Where plugins, approvals and tokens are kept, and the edge''s socket [variable: `OZ0_DATA`] [default: ~/.local/share/oz0]')
            [CompletionResult]::new('--edge', '--edge', [CompletionResultType]::ParameterName, 'The edge to speak to, instead of the one of the data folder [variable: `OZ0_EDGE`]')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print them as JSON')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Say only what went wrong, and the result')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Say only what went wrong, and the result')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            break
        }
        'oz0;policy;set' {
            [CompletionResult]::new('--reason', '--reason', [CompletionResultType]::ParameterName, 'Why, for people and for whoever is refused')
            [CompletionResult]::new('--when', '--when', [CompletionResultType]::ParameterName, 'Only for some arguments: a JSON object of JSON pointers and the JSON Schemas that must all hold there')
            [CompletionResult]::new('--before', '--before', [CompletionResultType]::ParameterName, 'Where it stands: before the rule with this ID, or `first`')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour what is printed [variable: `OZ0_COLOR`] [default: auto]')
            [CompletionResult]::new('--cache', '--cache', [CompletionResultType]::ParameterName, 'Where locked environments are kept [variable: `OZ0_CACHE`] [default: ~/.cache/oz0]')
            [CompletionResult]::new('--data', '--data', [CompletionResultType]::ParameterName, 'Where plugins, approvals and tokens are kept, and the edge''s socket [variable: `OZ0_DATA`] [default: ~/.local/share/oz0]')
            [CompletionResult]::new('--edge', '--edge', [CompletionResultType]::ParameterName, 'The edge to speak to, instead of the one of the data folder [variable: `OZ0_EDGE`]')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Say only what went wrong, and the result')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Say only what went wrong, and the result')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            break
        }
        'oz0;policy;unset' {
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour what is printed [variable: `OZ0_COLOR`] [default: auto]')
            [CompletionResult]::new('--cache', '--cache', [CompletionResultType]::ParameterName, 'Where locked environments are kept [variable: `OZ0_CACHE`] [default: ~/.cache/oz0]')
            [CompletionResult]::new('--data', '--data', [CompletionResultType]::ParameterName, 'Where plugins, approvals and tokens are kept, and the edge''s socket [variable: `OZ0_DATA`] [default: ~/.local/share/oz0]')
            [CompletionResult]::new('--edge', '--edge', [CompletionResultType]::ParameterName, 'The edge to speak to, instead of the one of the data folder [variable: `OZ0_EDGE`]')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Say only what went wrong, and the result')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Say only what went wrong, and the result')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            break
        }
        'oz0;policy;help' {
            [CompletionResult]::new('list', 'list', [CompletionResultType]::ParameterValue, 'Show the rules, in the order in which they count')
            [CompletionResult]::new('set', 'set', [CompletionResultType]::ParameterValue, 'Say what happens to the calls of some functions')
            [CompletionResult]::new('unset', 'unset', [CompletionResultType]::ParameterValue, 'Take a rule away')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'oz0;policy;help;list' {
            break
        }
        'oz0;policy;help;set' {
            break
        }
        'oz0;policy;help;unset' {
            break
        }
        'oz0;policy;help;help' {
            break
        }
        'oz0;approvals' {
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour what is printed [variable: `OZ0_COLOR`] [default: auto]')
            [CompletionResult]::new('--cache', '--cache', [CompletionResultType]::ParameterName, 'Where locked environments are kept [variable: `OZ0_CACHE`] [default: ~/.cache/oz0]')
            [CompletionResult]::new('--data', '--data', [CompletionResultType]::ParameterName, 'Where plugins, approvals and tokens are kept, and the edge''s socket [variable: `OZ0_DATA`] [default: ~/.local/share/oz0]')
            [CompletionResult]::new('--edge', '--edge', [CompletionResultType]::ParameterName, 'The edge to speak to, instead of the one of the data folder [variable: `OZ0_EDGE`]')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Say only what went wrong, and the result')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Say only what went wrong, and the result')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('list', 'list', [CompletionResultType]::ParameterValue, 'Show the calls that wait for a person, with their arguments')
            [CompletionResult]::new('approve', 'approve', [CompletionResultType]::ParameterValue, 'Let one call through that waits, this once')
            [CompletionResult]::new('deny', 'deny', [CompletionResultType]::ParameterValue, 'Refuse one call that waits')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'oz0;approvals;list' {
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour what is printed [variable: `OZ0_COLOR`] [default: auto]')
            [CompletionResult]::new('--cache', '--cache', [CompletionResultType]::ParameterName, 'Where locked environments are kept [variable: `OZ0_CACHE`] [default: ~/.cache/oz0]')
            [CompletionResult]::new('--data', '--data', [CompletionResultType]::ParameterName, 'Where plugins, approvals and tokens are kept, and the edge''s socket [variable: `OZ0_DATA`] [default: ~/.local/share/oz0]')
            [CompletionResult]::new('--edge', '--edge', [CompletionResultType]::ParameterName, 'The edge to speak to, instead of the one of the data folder [variable: `OZ0_EDGE`]')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print them as JSON')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Say only what went wrong, and the result')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Say only what went wrong, and the result')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            break
        }
        'oz0;approvals;approve' {
            [CompletionResult]::new('--reason', '--reason', [CompletionResultType]::ParameterName, 'Why; whoever called is told where it is denied')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour what is printed [variable: `OZ0_COLOR`] [default: auto]')
            [CompletionResult]::new('--cache', '--cache', [CompletionResultType]::ParameterName, 'Where locked environments are kept [variable: `OZ0_CACHE`] [default: ~/.cache/oz0]')
            [CompletionResult]::new('--data', '--data', [CompletionResultType]::ParameterName, 'Where plugins, approvals and tokens are kept, and the edge''s socket [variable: `OZ0_DATA`] [default: ~/.local/share/oz0]')
            [CompletionResult]::new('--edge', '--edge', [CompletionResultType]::ParameterName, 'The edge to speak to, instead of the one of the data folder [variable: `OZ0_EDGE`]')
            [CompletionResult]::new('-y', '-y', [CompletionResultType]::ParameterName, 'Do not ask')
            [CompletionResult]::new('--yes', '--yes', [CompletionResultType]::ParameterName, 'Do not ask')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Say only what went wrong, and the result')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Say only what went wrong, and the result')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            break
        }
        'oz0;approvals;deny' {
            [CompletionResult]::new('--reason', '--reason', [CompletionResultType]::ParameterName, 'Why; whoever called is told where it is denied')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour what is printed [variable: `OZ0_COLOR`] [default: auto]')
            [CompletionResult]::new('--cache', '--cache', [CompletionResultType]::ParameterName, 'Where locked environments are kept [variable: `OZ0_CACHE`] [default: ~/.cache/oz0]')
            [CompletionResult]::new('--data', '--data', [CompletionResultType]::ParameterName, 'Where plugins, approvals and tokens are kept, and the edge''s socket [variable: `OZ0_DATA`] [default: ~/.local/share/oz0]')
            [CompletionResult]::new('--edge', '--edge', [CompletionResultType]::ParameterName, 'The edge to speak to, instead of the one of the data folder [variable: `OZ0_EDGE`]')
            [CompletionResult]::new('-y', '-y', [CompletionResultType]::ParameterName, 'Do not ask')
            [CompletionResult]::new('--yes', '--yes', [CompletionResultType]::ParameterName, 'Do not ask')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Say only what went wrong, and the result')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Say only what went wrong, and the result')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            break
        }
        'oz0;approvals;help' {
            [CompletionResult]::new('list', 'list', [CompletionResultType]::ParameterValue, 'Show the calls that wait for a person, with their arguments')
            [CompletionResult]::new('approve', 'approve', [CompletionResultType]::ParameterValue, 'Let one call through that waits, this once')
            [CompletionResult]::new('deny', 'deny', [CompletionResultType]::ParameterValue, 'Refuse one call that waits')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'oz0;approvals;help;list' {
            break
        }
        'oz0;approvals;help;approve' {
            break
        }
        'oz0;approvals;help;deny' {
            break
        }
        'oz0;approvals;help;help' {
            break
        }
        'oz0;secret' {
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour what is printed [variable: `OZ0_COLOR`] [default: auto]')
            [CompletionResult]::new('--cache', '--cache', [CompletionResultType]::ParameterName, 'Where locked environments are kept [variable: `OZ0_CACHE`] [default: ~/.cache/oz0]')
            [CompletionResult]::new('--data', '--data', [CompletionResultType]::ParameterName, 'Where plugins, approvals and tokens are kept, and the edge''s socket [variable: `OZ0_DATA`] [default: ~/.local/share/oz0]')
            [CompletionResult]::new('--edge', '--edge', [CompletionResultType]::ParameterName, 'The edge to speak to, instead of the one of the data folder [variable: `OZ0_EDGE`]')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Say only what went wrong, and the result')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Say only what went wrong, and the result')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('set', 'set', [CompletionResultType]::ParameterValue, 'Keep the value of a secret that a plugin declares')
            [CompletionResult]::new('list', 'list', [CompletionResultType]::ParameterValue, 'Show which secrets plugins declare, and which of them are set')
            [CompletionResult]::new('unset', 'unset', [CompletionResultType]::ParameterValue, 'Forget the value of a secret')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'oz0;secret;set' {
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour what is printed [variable: `OZ0_COLOR`] [default: auto]')
            [CompletionResult]::new('--cache', '--cache', [CompletionResultType]::ParameterName, 'Where locked environments are kept [variable: `OZ0_CACHE`] [default: ~/.cache/oz0]')
            [CompletionResult]::new('--data', '--data', [CompletionResultType]::ParameterName, 'Where plugins, approvals and tokens are kept, and the edge''s socket [variable: `OZ0_DATA`] [default: ~/.local/share/oz0]')
            [CompletionResult]::new('--edge', '--edge', [CompletionResultType]::ParameterName, 'The edge to speak to, instead of the one of the data folder [variable: `OZ0_EDGE`]')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Say only what went wrong, and the result')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Say only what went wrong, and the result')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            break
        }
        'oz0;secret;list' {
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour what is printed [variable: `OZ0_COLOR`] [default: auto]')
            [CompletionResult]::new('--cache', '--cache', [CompletionResultType]::ParameterName, 'Where locked environments are kept [variable: `OZ0_CACHE`] [default: ~/.cache/oz0]')
            [CompletionResult]::new('--data', '--data', [CompletionResultType]::ParameterName, 'Where plugins, approvals and tokens are kept, and the edge''s socket [variable: `OZ0_DATA`] [default: ~/.local/share/oz0]')
            [CompletionResult]::new('--edge', '--edge', [CompletionResultType]::ParameterName, 'The edge to speak to, instead of the one of the data folder [variable: `OZ0_EDGE`]')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print them as JSON')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Say only what went wrong, and the result')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Say only what went wrong, and the result')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            break
        }
        'oz0;secret;unset' {
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour what is printed [variable: `OZ0_COLOR`] [default: auto]')
            [CompletionResult]::new('--cache', '--cache', [CompletionResultType]::ParameterName, 'Where locked environments are kept [variable: `OZ0_CACHE`] [default: ~/.cache/oz0]')
            [CompletionResult]::new('--data', '--data', [CompletionResultType]::ParameterName, 'Where plugins, approvals and tokens are kept, and the edge''s socket [variable: `OZ0_DATA`] [default: ~/.local/share/oz0]')
            [CompletionResult]::new('--edge', '--edge', [CompletionResultType]::ParameterName, 'The edge to speak to, instead of the one of the data folder [variable: `OZ0_EDGE`]')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Say only what went wrong, and the result')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Say only what went wrong, and the result')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            break
        }
        'oz0;secret;help' {
            [CompletionResult]::new('set', 'set', [CompletionResultType]::ParameterValue, 'Keep the value of a secret that a plugin declares')
            [CompletionResult]::new('list', 'list', [CompletionResultType]::ParameterValue, 'Show which secrets plugins declare, and which of them are set')
            [CompletionResult]::new('unset', 'unset', [CompletionResultType]::ParameterValue, 'Forget the value of a secret')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'oz0;secret;help;set' {
            break
        }
        'oz0;secret;help;list' {
            break
        }
        'oz0;secret;help;unset' {
            break
        }
        'oz0;secret;help;help' {
            break
        }
        'oz0;connection' {
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour what is printed [variable: `OZ0_COLOR`] [default: auto]')
            [CompletionResult]::new('--cache', '--cache', [CompletionResultType]::ParameterName, 'Where locked environments are kept [variable: `OZ0_CACHE`] [default: ~/.cache/oz0]')
            [CompletionResult]::new('--data', '--data', [CompletionResultType]::ParameterName, 'Where plugins, approvals and tokens are kept, and the edge''s socket [variable: `OZ0_DATA`] [default: ~/.local/share/oz0]')
            [CompletionResult]::new('--edge', '--edge', [CompletionResultType]::ParameterName, 'The edge to speak to, instead of the one of the data folder [variable: `OZ0_EDGE`]')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Say only what went wrong, and the result')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Say only what went wrong, and the result')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('connect', 'connect', [CompletionResultType]::ParameterValue, 'Connect a plugin''s connection to your account at its system')
            [CompletionResult]::new('list', 'list', [CompletionResultType]::ParameterValue, 'Show the connections, and what they are connected with')
            [CompletionResult]::new('disconnect', 'disconnect', [CompletionResultType]::ParameterValue, 'Forget what a connection is connected with, and have its tokens revoked')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'oz0;connection;connect' {
            [CompletionResult]::new('--param', '--param', [CompletionResultType]::ParameterName, 'The value of a param (repeatable); one that is left out has the manifest''s default')
            [CompletionResult]::new('--issuer', '--issuer', [CompletionResultType]::ParameterName, 'The authorization server''s issuer, where the plugin''s remote server does not name it')
            [CompletionResult]::new('--authorize-url', '--authorize-url', [CompletionResultType]::ParameterName, 'Where people authorize, of an authorization server without metadata')
            [CompletionResult]::new('--token-url', '--token-url', [CompletionResultType]::ParameterName, 'Where tokens are made, of an authorization server without metadata')
            [CompletionResult]::new('--revoke-url', '--revoke-url', [CompletionResultType]::ParameterName, 'Where tokens are revoked, of an authorization server without metadata')
            [CompletionResult]::new('--client-id', '--client-id', [CompletionResultType]::ParameterName, 'The client that was registered for oz0 there; without it, oz0 registers one where that is offered')
            [CompletionResult]::new('--client-auth', '--client-auth', [CompletionResultType]::ParameterName, 'How the client shows its secret [default: what the server says, else basic]')
            [CompletionResult]::new('--scope', '--scope', [CompletionResultType]::ParameterName, 'A scope to ask for (repeatable); without it, those that the manifest names')
            [CompletionResult]::new('--redirect-port', '--redirect-port', [CompletionResultType]::ParameterName, 'The port of this machine that the browser comes back to, where the client was registered with one')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour what is printed [variable: `OZ0_COLOR`] [default: auto]')
            [CompletionResult]::new('--cache', '--cache', [CompletionResultType]::ParameterName, 'Where locked environments are kept [variable: `OZ0_CACHE`] [default: ~/.cache/oz0]')
            [CompletionResult]::new('--data', '--data', [CompletionResultType]::ParameterName, 'Where plugins, approvals and tokens are kept, and the edge''s socket [variable: `OZ0_DATA`] [default: ~/.local/share/oz0]')
            [CompletionResult]::new('--edge', '--edge', [CompletionResultType]::ParameterName, 'The edge to speak to, instead of the one of the data folder [variable: `OZ0_EDGE`]')
            [CompletionResult]::new('--oauth', '--oauth', [CompletionResultType]::ParameterName, 'Authorize oz0 in a browser, instead of giving secrets')
            [CompletionResult]::new('--client-credentials', '--client-credentials', [CompletionResultType]::ParameterName, 'Have a token made for a client of the system, without a person')
            [CompletionResult]::new('--client-secret', '--client-secret', [CompletionResultType]::ParameterName, 'Take the client''s secret from standard input, or ask for it')
            [CompletionResult]::new('--no-browser', '--no-browser', [CompletionResultType]::ParameterName, 'Only print the address to open')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Say only what went wrong, and the result')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Say only what went wrong, and the result')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            break
        }
        'oz0;connection;list' {
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour what is printed [variable: `OZ0_COLOR`] [default: auto]')
            [CompletionResult]::new('--cache', '--cache', [CompletionResultType]::ParameterName, 'Where locked environments are kept [variable: `OZ0_CACHE`] [default: ~/.cache/oz0]')
            [CompletionResult]::new('--data', '--data', [CompletionResultType]::ParameterName, 'Where plugins, approvals and tokens are kept, and the edge''s socket [variable: `OZ0_DATA`] [default: ~/.local/share/oz0]')
            [CompletionResult]::new('--edge', '--edge', [CompletionResultType]::ParameterName, 'The edge to speak to, instead of the one of the data folder [variable: `OZ0_EDGE`]')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print them as JSON')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Say only what went wrong, and the result')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Say only what went wrong, and the result')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            break
        }
        'oz0;connection;disconnect' {
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour what is printed [variable: `OZ0_COLOR`] [default: auto]')
            [CompletionResult]::new('--cache', '--cache', [CompletionResultType]::ParameterName, 'Where locked environments are kept [variable: `OZ0_CACHE`] [default: ~/.cache/oz0]')
            [CompletionResult]::new('--data', '--data', [CompletionResultType]::ParameterName, 'Where plugins, approvals and tokens are kept, and the edge''s socket [variable: `OZ0_DATA`] [default: ~/.local/share/oz0]')
            [CompletionResult]::new('--edge', '--edge', [CompletionResultType]::ParameterName, 'The edge to speak to, instead of the one of the data folder [variable: `OZ0_EDGE`]')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Say only what went wrong, and the result')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Say only what went wrong, and the result')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            break
        }
        'oz0;connection;help' {
            [CompletionResult]::new('connect', 'connect', [CompletionResultType]::ParameterValue, 'Connect a plugin''s connection to your account at its system')
            [CompletionResult]::new('list', 'list', [CompletionResultType]::ParameterValue, 'Show the connections, and what they are connected with')
            [CompletionResult]::new('disconnect', 'disconnect', [CompletionResultType]::ParameterValue, 'Forget what a connection is connected with, and have its tokens revoked')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'oz0;connection;help;connect' {
            break
        }
        'oz0;connection;help;list' {
            break
        }
        'oz0;connection;help;disconnect' {
            break
        }
        'oz0;connection;help;help' {
            break
        }
        'oz0;audit' {
            [CompletionResult]::new('--plugin', '--plugin', [CompletionResultType]::ParameterName, 'Only entries of this plugin')
            [CompletionResult]::new('--function', '--function', [CompletionResultType]::ParameterName, 'Only entries about this function, such as `team.hello`')
            [CompletionResult]::new('--action', '--action', [CompletionResultType]::ParameterName, 'Only these acts (repeatable): `plugin.tools.approve`, or `plugin.tools` for all that begin so')
            [CompletionResult]::new('--actor', '--actor', [CompletionResultType]::ParameterName, 'Only acts of this actor: `token:NAME`, `node:NAME`, `local` or `edge`')
            [CompletionResult]::new('--since', '--since', [CompletionResultType]::ParameterName, 'Only entries since then: a span such as `2h`, or a time such as `2026-05-01T12:00:00Z`')
            [CompletionResult]::new('--after', '--after', [CompletionResultType]::ParameterName, 'Only entries after this position, to go on where an earlier run ended')
            [CompletionResult]::new('-n', '-n', [CompletionResultType]::ParameterName, 'Only the last so many of them; with --follow, before what comes')
            [CompletionResult]::new('--last', '--last', [CompletionResultType]::ParameterName, 'Only the last so many of them; with --follow, before what comes')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour what is printed [variable: `OZ0_COLOR`] [default: auto]')
            [CompletionResult]::new('--cache', '--cache', [CompletionResultType]::ParameterName, 'Where locked environments are kept [variable: `OZ0_CACHE`] [default: ~/.cache/oz0]')
            [CompletionResult]::new('--data', '--data', [CompletionResultType]::ParameterName, 'Where plugins, approvals and tokens are kept, and the edge''s socket [variable: `OZ0_DATA`] [default: ~/.local/share/oz0]')
            [CompletionResult]::new('--edge', '--edge', [CompletionResultType]::ParameterName, 'The edge to speak to, instead of the one of the data folder [variable: `OZ0_EDGE`]')
            [CompletionResult]::new('-f', '-f', [CompletionResultType]::ParameterName, 'Go on with what is written from now on, until interrupted')
            [CompletionResult]::new('--follow', '--follow', [CompletionResultType]::ParameterName, 'Go on with what is written from now on, until interrupted')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print one JSON object a line')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Say only what went wrong, and the result')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Say only what went wrong, and the result')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('verify', 'verify', [CompletionResultType]::ParameterValue, 'Check that no entry was edited, removed, inserted or moved')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'oz0;audit;verify' {
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour what is printed [variable: `OZ0_COLOR`] [default: auto]')
            [CompletionResult]::new('--cache', '--cache', [CompletionResultType]::ParameterName, 'Where locked environments are kept [variable: `OZ0_CACHE`] [default: ~/.cache/oz0]')
            [CompletionResult]::new('--data', '--data', [CompletionResultType]::ParameterName, 'Where plugins, approvals and tokens are kept, and the edge''s socket [variable: `OZ0_DATA`] [default: ~/.local/share/oz0]')
            [CompletionResult]::new('--edge', '--edge', [CompletionResultType]::ParameterName, 'The edge to speak to, instead of the one of the data folder [variable: `OZ0_EDGE`]')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print chains and faults as JSON')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Say only what went wrong, and the result')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Say only what went wrong, and the result')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            break
        }
        'oz0;audit;help' {
            [CompletionResult]::new('verify', 'verify', [CompletionResultType]::ParameterValue, 'Check that no entry was edited, removed, inserted or moved')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'oz0;audit;help;verify' {
            break
        }
        'oz0;audit;help;help' {
            break
        }
        'oz0;token' {
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour what is printed [variable: `OZ0_COLOR`] [default: auto]')
            [CompletionResult]::new('--cache', '--cache', [CompletionResultType]::ParameterName, 'Where locked environments are kept [variable: `OZ0_CACHE`] [default: ~/.cache/oz0]')
            [CompletionResult]::new('--data', '--data', [CompletionResultType]::ParameterName, 'Where plugins, approvals and tokens are kept, and the edge''s socket [variable: `OZ0_DATA`] [default: ~/.local/share/oz0]')
            [CompletionResult]::new('--edge', '--edge', [CompletionResultType]::ParameterName, 'The edge to speak to, instead of the one of the data folder [variable: `OZ0_EDGE`]')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Say only what went wrong, and the result')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Say only what went wrong, and the result')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('create', 'create', [CompletionResultType]::ParameterValue, 'Make a token, and print it: it is shown this once')
            [CompletionResult]::new('list', 'list', [CompletionResultType]::ParameterValue, 'Show the tokens, revoked ones included; never their secrets')
            [CompletionResult]::new('revoke', 'revoke', [CompletionResultType]::ParameterValue, 'Revoke a token: it stops working at once')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'oz0;token;create' {
            [CompletionResult]::new('--client', '--client', [CompletionResultType]::ParameterName, 'For an MCP client of this name: it calls functions, and nothing else')
            [CompletionResult]::new('--admin', '--admin', [CompletionResultType]::ParameterName, 'For a person of this name, who approves, installs and makes tokens')
            [CompletionResult]::new('--viewer', '--viewer', [CompletionResultType]::ParameterName, 'For a person of this name, who reads what an admin reads, and does nothing')
            [CompletionResult]::new('--node', '--node', [CompletionResultType]::ParameterName, 'For setting up a node of this name: it works once, within an hour, with `oz0 node join`; a node that has the name now is let go when it is used')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour what is printed [variable: `OZ0_COLOR`] [default: auto]')
            [CompletionResult]::new('--cache', '--cache', [CompletionResultType]::ParameterName, 'Where locked environments are kept [variable: `OZ0_CACHE`] [default: ~/.cache/oz0]')
            [CompletionResult]::new('--data', '--data', [CompletionResultType]::ParameterName, 'Where plugins, approvals and tokens are kept, and the edge''s socket [variable: `OZ0_DATA`] [default: ~/.local/share/oz0]')
            [CompletionResult]::new('--edge', '--edge', [CompletionResultType]::ParameterName, 'The edge to speak to, instead of the one of the data folder [variable: `OZ0_EDGE`]')
            [CompletionResult]::new('--may-approve', '--may-approve', [CompletionResultType]::ParameterName, 'Elicitation at this client may decide a call that is asked about')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print the token with what is known of it as JSON')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Say only what went wrong, and the result')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Say only what went wrong, and the result')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            break
        }
        'oz0;token;list' {
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour what is printed [variable: `OZ0_COLOR`] [default: auto]')
            [CompletionResult]::new('--cache', '--cache', [CompletionResultType]::ParameterName, 'Where locked environments are kept [variable: `OZ0_CACHE`] [default: ~/.cache/oz0]')
            [CompletionResult]::new('--data', '--data', [CompletionResultType]::ParameterName, 'Where plugins, approvals and tokens are kept, and the edge''s socket [variable: `OZ0_DATA`] [default: ~/.local/share/oz0]')
            [CompletionResult]::new('--edge', '--edge', [CompletionResultType]::ParameterName, 'The edge to speak to, instead of the one of the data folder [variable: `OZ0_EDGE`]')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print them as JSON')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Say only what went wrong, and the result')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Say only what went wrong, and the result')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            break
        }
        'oz0;token;revoke' {
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour what is printed [variable: `OZ0_COLOR`] [default: auto]')
            [CompletionResult]::new('--cache', '--cache', [CompletionResultType]::ParameterName, 'Where locked environments are kept [variable: `OZ0_CACHE`] [default: ~/.cache/oz0]')
            [CompletionResult]::new('--data', '--data', [CompletionResultType]::ParameterName, 'Where plugins, approvals and tokens are kept, and the edge''s socket [variable: `OZ0_DATA`] [default: ~/.local/share/oz0]')
            [CompletionResult]::new('--edge', '--edge', [CompletionResultType]::ParameterName, 'The edge to speak to, instead of the one of the data folder [variable: `OZ0_EDGE`]')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Say only what went wrong, and the result')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Say only what went wrong, and the result')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            break
        }
        'oz0;token;help' {
            [CompletionResult]::new('create', 'create', [CompletionResultType]::ParameterValue, 'Make a token, and print it: it is shown this once')
            [CompletionResult]::new('list', 'list', [CompletionResultType]::ParameterValue, 'Show the tokens, revoked ones included; never their secrets')
            [CompletionResult]::new('revoke', 'revoke', [CompletionResultType]::ParameterValue, 'Revoke a token: it stops working at once')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'oz0;token;help;create' {
            break
        }
        'oz0;token;help;list' {
            break
        }
        'oz0;token;help;revoke' {
            break
        }
        'oz0;token;help;help' {
            break
        }
        'oz0;login' {
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour what is printed [variable: `OZ0_COLOR`] [default: auto]')
            [CompletionResult]::new('--cache', '--cache', [CompletionResultType]::ParameterName, 'Where locked environments are kept [variable: `OZ0_CACHE`] [default: ~/.cache/oz0]')
            [CompletionResult]::new('--data', '--data', [CompletionResultType]::ParameterName, 'Where plugins, approvals and tokens are kept, and the edge''s socket [variable: `OZ0_DATA`] [default: ~/.local/share/oz0]')
            [CompletionResult]::new('--edge', '--edge', [CompletionResultType]::ParameterName, 'The edge to speak to, instead of the one of the data folder [variable: `OZ0_EDGE`]')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Say only what went wrong, and the result')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Say only what went wrong, and the result')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            break
        }
        'oz0;node' {
            [CompletionResult]::new('--mcp-listen', '--mcp-listen', [CompletionResultType]::ParameterName, 'Where the MCP endpoint listens; port 0 picks a free one [variable: `OZ0_MCP_LISTEN`] [default: 127.0.0.1:7071]')
            [CompletionResult]::new('--host', '--host', [CompletionResultType]::ParameterName, 'Another name that this machine is reached by (repeatable); requests for other names are refused')
            [CompletionResult]::new('--secret', '--secret', [CompletionResultType]::ParameterName, 'Give a secret its value from this environment, to each plugin that declares it when it is started (repeatable); to one plugin alone: PLUGIN=NAME')
            [CompletionResult]::new('--share', '--share', [CompletionResultType]::ParameterName, 'Let a plugin''s servers read and write this folder, at the same path (repeatable); where several plugins run, say which: NAME=DIR')
            [CompletionResult]::new('--share-read', '--share-read', [CompletionResultType]::ParameterName, 'Let a plugin''s servers read this folder, at the same path (repeatable); NAME=DIR as with --share')
            [CompletionResult]::new('--verify-every', '--verify-every', [CompletionResultType]::ParameterName, 'How old a server''s listing may be when a call relies on it, in seconds; 0 lists before each call [variable: `OZ0_VERIFY_EVERY`] [default: 2, and 30 for remote servers]')
            [CompletionResult]::new('--validate', '--validate', [CompletionResultType]::ParameterName, 'What becomes of structured results that do not match the output schema [variable: `OZ0_VALIDATE`] [default: warn]')
            [CompletionResult]::new('--arguments', '--arguments', [CompletionResultType]::ParameterName, 'Which arguments are let through [variable: `OZ0_ARGUMENTS`] [default: as-listed]')
            [CompletionResult]::new('--edge-grace', '--edge-grace', [CompletionResultType]::ParameterName, 'How long calls go on when the edge is lost, in seconds [variable: `OZ0_EDGE_GRACE`] [default: 3600]')
            [CompletionResult]::new('--approval-timeout', '--approval-timeout', [CompletionResultType]::ParameterName, 'How long a call waits for a person who is asked about it, in seconds; a day at most [variable: `OZ0_APPROVAL_TIMEOUT`] [default: 600]')
            [CompletionResult]::new('--ai-label', '--ai-label', [CompletionResultType]::ParameterName, 'The line put under text that a plugin marks as written for people by a machine [variable: `OZ0_AI_LABEL`] [default: [AI-generated]]')
            [CompletionResult]::new('--metrics-listen', '--metrics-listen', [CompletionResultType]::ParameterName, 'Serve /metrics, /healthz and /readyz on a port of their own, to anyone who reaches it [variable: `OZ0_METRICS_LISTEN`] [default: none]')
            [CompletionResult]::new('--log', '--log', [CompletionResultType]::ParameterName, 'Log to standard error, in place of what is said there otherwise: a level, or directives such as `info,oz0::call=debug` [variable: `OZ0_LOG`] [default: off, and info where a format is given]')
            [CompletionResult]::new('--log-format', '--log-format', [CompletionResultType]::ParameterName, 'How the log is written; json is an object a line [variable: `OZ0_LOG_FORMAT`] [default: text]')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour what is printed [variable: `OZ0_COLOR`] [default: auto]')
            [CompletionResult]::new('--cache', '--cache', [CompletionResultType]::ParameterName, 'Where locked environments are kept [variable: `OZ0_CACHE`] [default: ~/.cache/oz0]')
            [CompletionResult]::new('--data', '--data', [CompletionResultType]::ParameterName, 'Where plugins, approvals and tokens are kept, and the edge''s socket [variable: `OZ0_DATA`] [default: ~/.local/share/oz0]')
            [CompletionResult]::new('--edge', '--edge', [CompletionResultType]::ParameterName, 'The edge to speak to, instead of the one of the data folder [variable: `OZ0_EDGE`]')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print the first line as JSON')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Say only what went wrong, and the result')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Say only what went wrong, and the result')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('join', 'join', [CompletionResultType]::ParameterValue, 'Join an edge, with a token that `oz0 token create --node NAME` printed')
            [CompletionResult]::new('list', 'list', [CompletionResultType]::ParameterValue, 'Show the nodes, and whether they are there now')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'oz0;node;join' {
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour what is printed [variable: `OZ0_COLOR`] [default: auto]')
            [CompletionResult]::new('--cache', '--cache', [CompletionResultType]::ParameterName, 'Where locked environments are kept [variable: `OZ0_CACHE`] [default: ~/.cache/oz0]')
            [CompletionResult]::new('--data', '--data', [CompletionResultType]::ParameterName, 'Where plugins, approvals and tokens are kept, and the edge''s socket [variable: `OZ0_DATA`] [default: ~/.local/share/oz0]')
            [CompletionResult]::new('--edge', '--edge', [CompletionResultType]::ParameterName, 'The edge to speak to, instead of the one of the data folder [variable: `OZ0_EDGE`]')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Say only what went wrong, and the result')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Say only what went wrong, and the result')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            break
        }
        'oz0;node;list' {
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour what is printed [variable: `OZ0_COLOR`] [default: auto]')
            [CompletionResult]::new('--cache', '--cache', [CompletionResultType]::ParameterName, 'Where locked environments are kept [variable: `OZ0_CACHE`] [default: ~/.cache/oz0]')
            [CompletionResult]::new('--data', '--data', [CompletionResultType]::ParameterName, 'Where plugins, approvals and tokens are kept, and the edge''s socket [variable: `OZ0_DATA`] [default: ~/.local/share/oz0]')
            [CompletionResult]::new('--edge', '--edge', [CompletionResultType]::ParameterName, 'The edge to speak to, instead of the one of the data folder [variable: `OZ0_EDGE`]')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print them as JSON')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Say only what went wrong, and the result')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Say only what went wrong, and the result')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            break
        }
        'oz0;node;help' {
            [CompletionResult]::new('join', 'join', [CompletionResultType]::ParameterValue, 'Join an edge, with a token that `oz0 token create --node NAME` printed')
            [CompletionResult]::new('list', 'list', [CompletionResultType]::ParameterValue, 'Show the nodes, and whether they are there now')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'oz0;node;help;join' {
            break
        }
        'oz0;node;help;list' {
            break
        }
        'oz0;node;help;help' {
            break
        }
        'oz0;completions' {
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour what is printed [variable: `OZ0_COLOR`] [default: auto]')
            [CompletionResult]::new('--cache', '--cache', [CompletionResultType]::ParameterName, 'Where locked environments are kept [variable: `OZ0_CACHE`] [default: ~/.cache/oz0]')
            [CompletionResult]::new('--data', '--data', [CompletionResultType]::ParameterName, 'Where plugins, approvals and tokens are kept, and the edge''s socket [variable: `OZ0_DATA`] [default: ~/.local/share/oz0]')
            [CompletionResult]::new('--edge', '--edge', [CompletionResultType]::ParameterName, 'The edge to speak to, instead of the one of the data folder [variable: `OZ0_EDGE`]')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Say only what went wrong, and the result')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Say only what went wrong, and the result')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            break
        }
        'oz0;help' {
            [CompletionResult]::new('up', 'up', [CompletionResultType]::ParameterValue, 'Run plugins, with an MCP endpoint for clients')
            [CompletionResult]::new('mcp', 'mcp', [CompletionResultType]::ParameterValue, 'Run one plugin for the MCP client that starts this command, over its standard input and output')
            [CompletionResult]::new('edge', 'edge', [CompletionResultType]::ParameterValue, 'Run an edge: the control plane alone, for nodes on other machines')
            [CompletionResult]::new('wrap', 'wrap', [CompletionResultType]::ParameterValue, 'Make a plugin''s folder around a server that you use')
            [CompletionResult]::new('plugin', 'plugin', [CompletionResultType]::ParameterValue, 'Measure plugins, look at them, and approve what changes in them')
            [CompletionResult]::new('lsp', 'lsp', [CompletionResultType]::ParameterValue, 'Check plugins in an editor, as a language server on standard input and output')
            [CompletionResult]::new('catalog', 'catalog', [CompletionResultType]::ParameterValue, 'Show every function as it was approved, and what waits beside it')
            [CompletionResult]::new('call', 'call', [CompletionResultType]::ParameterValue, 'Call a function, as a client would')
            [CompletionResult]::new('policy', 'policy', [CompletionResultType]::ParameterValue, 'Say what may be called, what a person is asked about, and what is refused')
            [CompletionResult]::new('approvals', 'approvals', [CompletionResultType]::ParameterValue, 'Look at the calls that wait for a person, and decide')
            [CompletionResult]::new('secret', 'secret', [CompletionResultType]::ParameterValue, 'Keep the secrets that plugins'' processes are given')
            [CompletionResult]::new('connection', 'connection', [CompletionResultType]::ParameterValue, 'Connect plugins to accounts at outside systems, whose tokens go with single calls')
            [CompletionResult]::new('audit', 'audit', [CompletionResultType]::ParameterValue, 'Read the audit log: who approved what, and when')
            [CompletionResult]::new('token', 'token', [CompletionResultType]::ParameterValue, 'Make, list and revoke tokens')
            [CompletionResult]::new('login', 'login', [CompletionResultType]::ParameterValue, 'Keep a token for an edge, so that commands use it')
            [CompletionResult]::new('node', 'node', [CompletionResultType]::ParameterValue, 'Run a node, join an edge with it, or look at an edge''s nodes')
            [CompletionResult]::new('completions', 'completions', [CompletionResultType]::ParameterValue, 'Print the completions of a shell')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'oz0;help;up' {
            break
        }
        'oz0;help;mcp' {
            break
        }
        'oz0;help;edge' {
            [CompletionResult]::new('migrate', 'migrate', [CompletionResultType]::ParameterValue, 'Bring a store''s schema to what this oz0 reads')
            [CompletionResult]::new('backup', 'backup', [CompletionResultType]::ParameterValue, 'Write the store and its bundles into a new file, also while an edge runs')
            [CompletionResult]::new('restore', 'restore', [CompletionResultType]::ParameterValue, 'Bring a backup into a store that is not there yet')
            break
        }
        'oz0;help;edge;migrate' {
            break
        }
        'oz0;help;edge;backup' {
            break
        }
        'oz0;help;edge;restore' {
            break
        }
        'oz0;help;wrap' {
            break
        }
        'oz0;help;plugin' {
            [CompletionResult]::new('new', 'new', [CompletionResultType]::ParameterValue, 'Write a new plugin from a template')
            [CompletionResult]::new('test', 'test', [CompletionResultType]::ParameterValue, 'Start a plugin''s servers, and write what they list into tools.listing.json')
            [CompletionResult]::new('lint', 'lint', [CompletionResultType]::ParameterValue, 'Check a plugin against the house rules; runs nothing of it')
            [CompletionResult]::new('explain', 'explain', [CompletionResultType]::ParameterValue, 'Print a rule''s page: what it finds, why, and what to do')
            [CompletionResult]::new('inspect', 'inspect', [CompletionResultType]::ParameterValue, 'Show a plugin, a folder or a bundle, and its measured listing; runs nothing of it')
            [CompletionResult]::new('pack', 'pack', [CompletionResultType]::ParameterValue, 'Pack a plugin into one file, NAME-VERSION.oz0, for others to install')
            [CompletionResult]::new('install', 'install', [CompletionResultType]::ParameterValue, 'Install a plugin, a folder or a bundle, on every node')
            [CompletionResult]::new('update', 'update', [CompletionResultType]::ParameterValue, 'Run another version of an installed plugin, on every node or on some of them first')
            [CompletionResult]::new('promote', 'promote', [CompletionResultType]::ParameterValue, 'Run a plugin''s candidate on every node')
            [CompletionResult]::new('rollback', 'rollback', [CompletionResultType]::ParameterValue, 'Take a plugin''s candidate back, or without one go back to the version before')
            [CompletionResult]::new('list', 'list', [CompletionResultType]::ParameterValue, 'Show the installed plugins: what runs where, what waits for approval, what is left out, what failed')
            [CompletionResult]::new('approve-tools', 'approve-tools', [CompletionResultType]::ParameterValue, 'Look at what changed in a plugin''s tools, and approve it')
            [CompletionResult]::new('remove', 'remove', [CompletionResultType]::ParameterValue, 'Remove a plugin: nodes stop running it, and what was approved of it stays known')
            [CompletionResult]::new('schema', 'schema', [CompletionResultType]::ParameterValue, 'Print the JSON Schema of oz0-plugin.yaml')
            break
        }
        'oz0;help;plugin;new' {
            break
        }
        'oz0;help;plugin;test' {
            break
        }
        'oz0;help;plugin;lint' {
            break
        }
        'oz0;help;plugin;explain' {
            break
        }
        'oz0;help;plugin;inspect' {
            break
        }
        'oz0;help;plugin;pack' {
            break
        }
        'oz0;help;plugin;install' {
            break
        }
        'oz0;help;plugin;update' {
            break
        }
        'oz0;help;plugin;promote' {
            break
        }
        'oz0;help;plugin;rollback' {
            break
        }
        'oz0;help;plugin;list' {
            break
        }
        'oz0;help;plugin;approve-tools' {
            break
        }
        'oz0;help;plugin;remove' {
            break
        }
        'oz0;help;plugin;schema' {
            break
        }
        'oz0;help;lsp' {
            break
        }
        'oz0;help;catalog' {
            break
        }
        'oz0;help;call' {
            break
        }
        'oz0;help;policy' {
            [CompletionResult]::new('list', 'list', [CompletionResultType]::ParameterValue, 'Show the rules, in the order in which they count')
            [CompletionResult]::new('set', 'set', [CompletionResultType]::ParameterValue, 'Say what happens to the calls of some functions')
            [CompletionResult]::new('unset', 'unset', [CompletionResultType]::ParameterValue, 'Take a rule away')
            break
        }
        'oz0;help;policy;list' {
            break
        }
        'oz0;help;policy;set' {
            break
        }
        'oz0;help;policy;unset' {
            break
        }
        'oz0;help;approvals' {
            [CompletionResult]::new('list', 'list', [CompletionResultType]::ParameterValue, 'Show the calls that wait for a person, with their arguments')
            [CompletionResult]::new('approve', 'approve', [CompletionResultType]::ParameterValue, 'Let one call through that waits, this once')
            [CompletionResult]::new('deny', 'deny', [CompletionResultType]::ParameterValue, 'Refuse one call that waits')
            break
        }
        'oz0;help;approvals;list' {
            break
        }
        'oz0;help;approvals;approve' {
            break
        }
        'oz0;help;approvals;deny' {
            break
        }
        'oz0;help;secret' {
            [CompletionResult]::new('set', 'set', [CompletionResultType]::ParameterValue, 'Keep the value of a secret that a plugin declares')
            [CompletionResult]::new('list', 'list', [CompletionResultType]::ParameterValue, 'Show which secrets plugins declare, and which of them are set')
            [CompletionResult]::new('unset', 'unset', [CompletionResultType]::ParameterValue, 'Forget the value of a secret')
            break
        }
        'oz0;help;secret;set' {
            break
        }
        'oz0;help;secret;list' {
            break
        }
        'oz0;help;secret;unset' {
            break
        }
        'oz0;help;connection' {
            [CompletionResult]::new('connect', 'connect', [CompletionResultType]::ParameterValue, 'Connect a plugin''s connection to your account at its system')
            [CompletionResult]::new('list', 'list', [CompletionResultType]::ParameterValue, 'Show the connections, and what they are connected with')
            [CompletionResult]::new('disconnect', 'disconnect', [CompletionResultType]::ParameterValue, 'Forget what a connection is connected with, and have its tokens revoked')
            break
        }
        'oz0;help;connection;connect' {
            break
        }
        'oz0;help;connection;list' {
            break
        }
        'oz0;help;connection;disconnect' {
            break
        }
        'oz0;help;audit' {
            [CompletionResult]::new('verify', 'verify', [CompletionResultType]::ParameterValue, 'Check that no entry was edited, removed, inserted or moved')
            break
        }
        'oz0;help;audit;verify' {
            break
        }
        'oz0;help;token' {
            [CompletionResult]::new('create', 'create', [CompletionResultType]::ParameterValue, 'Make a token, and print it: it is shown this once')
            [CompletionResult]::new('list', 'list', [CompletionResultType]::ParameterValue, 'Show the tokens, revoked ones included; never their secrets')
            [CompletionResult]::new('revoke', 'revoke', [CompletionResultType]::ParameterValue, 'Revoke a token: it stops working at once')
            break
        }
        'oz0;help;token;create' {
            break
        }
        'oz0;help;token;list' {
            break
        }
        'oz0;help;token;revoke' {
            break
        }
        'oz0;help;login' {
            break
        }
        'oz0;help;node' {
            [CompletionResult]::new('join', 'join', [CompletionResultType]::ParameterValue, 'Join an edge, with a token that `oz0 token create --node NAME` printed')
            [CompletionResult]::new('list', 'list', [CompletionResultType]::ParameterValue, 'Show the nodes, and whether they are there now')
            break
        }
        'oz0;help;node;join' {
            break
        }
        'oz0;help;node;list' {
            break
        }
        'oz0;help;completions' {
            break
        }
        'oz0;help;help' {
            break
        }
    })

    $completions.Where{ $_.CompletionText -like "$wordToComplete*" } |
        Sort-Object -Property ListItemText
}
