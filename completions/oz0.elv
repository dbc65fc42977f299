
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
            cand -q 'Say only what went wrong, and the result'
            cand --quiet 'Say only what went wrong, and the result'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand -V 'Print version'
            cand --version 'Print version'
            cand plugin 'Measure and look at plugins'
            cand completions 'Print the completions of a shell'
            cand help 'Print this message or the help of the given subcommand(s)'
        }
        &'oz0;plugin'= {
            cand --color 'When to colour what is printed [variable: `OZ0_COLOR`] [default: auto]'
            cand --cache 'Where locked environments are kept [variable: `OZ0_CACHE`] [default: ~/.cache/oz0]'
            cand -q 'Say only what went wrong, and the result'
            cand --quiet 'Say only what went wrong, and the result'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand -V 'Print version'
            cand --version 'Print version'
            cand test 'Start a plugin''s servers, and write what they list into tools.listing.json'
            cand inspect 'Show a plugin and its measured listing; runs nothing of it'
            cand schema 'Print the JSON Schema of oz0-plugin.yaml'
            cand help 'Print this message or the help of the given subcommand(s)'
        }
        &'oz0;plugin;test'= {
            cand --secret 'Give a secret of requires its value from this environment (repeatable); a required one is a placeholder otherwise'
            cand --era 'Which era of the protocol to open connections in: try the modern one first, or just one'
            cand --timeout 'How long a server may take to start and list, in seconds'
            cand --color 'When to colour what is printed [variable: `OZ0_COLOR`] [default: auto]'
            cand --cache 'Where locked environments are kept [variable: `OZ0_CACHE`] [default: ~/.cache/oz0]'
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
        &'oz0;plugin;inspect'= {
            cand --color 'When to colour what is printed [variable: `OZ0_COLOR`] [default: auto]'
            cand --cache 'Where locked environments are kept [variable: `OZ0_CACHE`] [default: ~/.cache/oz0]'
            cand --json 'Print it as JSON'
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
            cand -q 'Say only what went wrong, and the result'
            cand --quiet 'Say only what went wrong, and the result'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand -V 'Print version'
            cand --version 'Print version'
        }
        &'oz0;plugin;help'= {
            cand test 'Start a plugin''s servers, and write what they list into tools.listing.json'
            cand inspect 'Show a plugin and its measured listing; runs nothing of it'
            cand schema 'Print the JSON Schema of oz0-plugin.yaml'
            cand help 'Print this message or the help of the given subcommand(s)'
        }
        &'oz0;plugin;help;test'= {
        }
        &'oz0;plugin;help;inspect'= {
        }
        &'oz0;plugin;help;schema'= {
        }
        &'oz0;plugin;help;help'= {
        }
        &'oz0;completions'= {
            cand --color 'When to colour what is printed [variable: `OZ0_COLOR`] [default: auto]'
            cand --cache 'Where locked environments are kept [variable: `OZ0_CACHE`] [default: ~/.cache/oz0]'
            cand -q 'Say only what went wrong, and the result'
            cand --quiet 'Say only what went wrong, and the result'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand -V 'Print version'
            cand --version 'Print version'
        }
        &'oz0;help'= {
            cand plugin 'Measure and look at plugins'
            cand completions 'Print the completions of a shell'
            cand help 'Print this message or the help of the given subcommand(s)'
        }
        &'oz0;help;plugin'= {
            cand test 'Start a plugin''s servers, and write what they list into tools.listing.json'
            cand inspect 'Show a plugin and its measured listing; runs nothing of it'
            cand schema 'Print the JSON Schema of oz0-plugin.yaml'
        }
        &'oz0;help;plugin;test'= {
        }
        &'oz0;help;plugin;inspect'= {
        }
        &'oz0;help;plugin;schema'= {
        }
        &'oz0;help;completions'= {
        }
        &'oz0;help;help'= {
        }
    ]
    $completions[$command]
}
