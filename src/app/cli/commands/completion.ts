// `dragoman completion bash|zsh|fish`: prints shell completion code for commands, actions and options, generated from
// the same lists as the help.
import { GatewayError } from '../../../canonical/index.ts';
import { COMMANDS } from '../command-list.ts';
import { parseArguments, type RunCommand } from '../command.ts';
import { COMMON_OPTIONS } from '../options.ts';

const SHELLS: ReadonlyMap<string, () => string> = new Map([
  ['bash', bash],
  ['zsh', zsh],
  ['fish', fish],
]);

export const completion: RunCommand = async (argv) => {
  const [shell = '', ...more] = parseArguments(argv).words;
  const code = SHELLS.get(shell);
  if (!code || more.length > 0)
    throw new GatewayError('invalid_request', `requires a shell: ${[...SHELLS.keys()].join(', ')}`);
  process.stdout.write(code());
  return 0;
};

const NAMES = [...COMMANDS.map(({ name }) => name), 'help'].join(' ');

/** By command, the words that may follow it. */
function wordsOf({ actions, options }: (typeof COMMANDS)[number]): {
  readonly actions: readonly string[];
  readonly options: readonly string[];
} {
  const names = [...Object.keys(options), ...Object.keys(COMMON_OPTIONS), 'help'];
  return { actions: Object.keys(actions ?? {}), options: names.map((name) => `--${name}`) };
}

function bash(): string {
  const cases = COMMANDS.map((command) => {
    const { actions, options } = wordsOf(command);
    return `    ${command.name}) actions="${actions.join(' ')}" options="${options.join(' ')}" ;;`;
  }).join('\n');
  return `# Completes \`dragoman\` in bash: source <(dragoman completion bash)
_dragoman() {
  local word="\${COMP_WORDS[COMP_CWORD]}" actions= options=
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "${NAMES} --help --version" -- "$word"))
    return
  fi
  case "\${COMP_WORDS[1]}" in
${cases}
  esac
  case "$word" in
    -*) COMPREPLY=($(compgen -W "$options" -- "$word")) ;;
    *) if [ "$COMP_CWORD" -eq 2 ] && [ -n "$actions" ]; then
         COMPREPLY=($(compgen -W "$actions" -- "$word"))
       else
         COMPREPLY=($(compgen -f -- "$word"))
       fi ;;
  esac
}
complete -F _dragoman dragoman
`;
}

/** Zsh uses the bash completion through its emulation. */
function zsh(): string {
  return `# Completes \`dragoman\` in zsh: source <(dragoman completion zsh)
autoload -Uz compinit bashcompinit
(( $+functions[compdef] )) || compinit
bashcompinit
${bash().split('\n').slice(1).join('\n')}`;
}

function fish(): string {
  const quoted = (text: string): string => `'${text.replaceAll(/['\\]/g, String.raw`\$&`)}'`;
  const lines = COMMANDS.flatMap(({ name, summary, actions = {}, options }) => [
    `complete -c dragoman -f -n __fish_use_subcommand -a ${name} -d ${quoted(summary)}`,
    ...Object.entries(actions).map(
      ([action, text]) =>
        `complete -c dragoman -f -n '__fish_seen_subcommand_from ${name}' -a ${action} -d ${quoted(text)}`,
    ),
    ...Object.entries({ ...options, ...COMMON_OPTIONS }).map(
      ([option, { value, text }]) =>
        `complete -c dragoman ${value === undefined ? '' : '-r '}-n '__fish_seen_subcommand_from ${name}' -l ${option} -d ${quoted(text)}`,
    ),
  ]);
  return `# Completes \`dragoman\` in fish: dragoman completion fish | source\n${lines.join('\n')}\n`;
}
