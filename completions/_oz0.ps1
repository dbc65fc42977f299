
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
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Say only what went wrong, and the result')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Say only what went wrong, and the result')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('plugin', 'plugin', [CompletionResultType]::ParameterValue, 'Measure and look at plugins')
            [CompletionResult]::new('completions', 'completions', [CompletionResultType]::ParameterValue, 'Print the completions of a shell')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'oz0;plugin' {
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour what is printed [variable: `OZ0_COLOR`] [default: auto]')
            [CompletionResult]::new('--cache', '--cache', [CompletionResultType]::ParameterName, 'Where locked environments are kept [variable: `OZ0_CACHE`] [default: ~/.cache/oz0]')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Say only what went wrong, and the result')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Say only what went wrong, and the result')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('test', 'test', [CompletionResultType]::ParameterValue, 'Start a plugin''s servers, and write what they list into tools.listing.json')
            [CompletionResult]::new('inspect', 'inspect', [CompletionResultType]::ParameterValue, 'Show a plugin and its measured listing; runs nothing of it')
            [CompletionResult]::new('schema', 'schema', [CompletionResultType]::ParameterValue, 'Print the JSON Schema of oz0-plugin.yaml')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'oz0;plugin;test' {
            [CompletionResult]::new('--secret', '--secret', [CompletionResultType]::ParameterName, 'Give a secret of requires its value from this environment (repeatable); a required one is a placeholder otherwise')
            [CompletionResult]::new('--era', '--era', [CompletionResultType]::ParameterName, 'Which era of the protocol to open connections in: try the modern one first, or just one')
            [CompletionResult]::new('--timeout', '--timeout', [CompletionResultType]::ParameterName, 'How long a server may take to start and list, in seconds')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour what is printed [variable: `OZ0_COLOR`] [default: auto]')
            [CompletionResult]::new('--cache', '--cache', [CompletionResultType]::ParameterName, 'Where locked environments are kept [variable: `OZ0_CACHE`] [default: ~/.cache/oz0]')
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
        'oz0;plugin;inspect' {
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour what is printed [variable: `OZ0_COLOR`] [default: auto]')
            [CompletionResult]::new('--cache', '--cache', [CompletionResultType]::ParameterName, 'Where locked environments are kept [variable: `OZ0_CACHE`] [default: ~/.cache/oz0]')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print it as JSON')
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
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Say only what went wrong, and the result')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Say only what went wrong, and the result')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            break
        }
        'oz0;plugin;help' {
            [CompletionResult]::new('test', 'test', [CompletionResultType]::ParameterValue, 'Start a plugin''s servers, and write what they list into tools.listing.json')
            [CompletionResult]::new('inspect', 'inspect', [CompletionResultType]::ParameterValue, 'Show a plugin and its measured listing; runs nothing of it')
            [CompletionResult]::new('schema', 'schema', [CompletionResultType]::ParameterValue, 'Print the JSON Schema of oz0-plugin.yaml')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'oz0;plugin;help;test' {
            break
        }
        'oz0;plugin;help;inspect' {
            break
        }
        'oz0;plugin;help;schema' {
            break
        }
        'oz0;plugin;help;help' {
            break
        }
        'oz0;completions' {
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour what is printed [variable: `OZ0_COLOR`] [default: auto]')
            [CompletionResult]::new('--cache', '--cache', [CompletionResultType]::ParameterName, 'Where locked environments are kept [variable: `OZ0_CACHE`] [default: ~/.cache/oz0]')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Say only what went wrong, and the result')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Say only what went wrong, and the result')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            break
        }
        'oz0;help' {
            [CompletionResult]::new('plugin', 'plugin', [CompletionResultType]::ParameterValue, 'Measure and look at plugins')
            [CompletionResult]::new('completions', 'completions', [CompletionResultType]::ParameterValue, 'Print the completions of a shell')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'oz0;help;plugin' {
            [CompletionResult]::new('test', 'test', [CompletionResultType]::ParameterValue, 'Start a plugin''s servers, and write what they list into tools.listing.json')
            [CompletionResult]::new('inspect', 'inspect', [CompletionResultType]::ParameterValue, 'Show a plugin and its measured listing; runs nothing of it')
            [CompletionResult]::new('schema', 'schema', [CompletionResultType]::ParameterValue, 'Print the JSON Schema of oz0-plugin.yaml')
            break
        }
        'oz0;help;plugin;test' {
            break
        }
        'oz0;help;plugin;inspect' {
            break
        }
        'oz0;help;plugin;schema' {
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
