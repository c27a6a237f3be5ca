// Help texts: all commands, one line each, or one command with its options.
import type { Command } from './command.ts';
import { padColumns } from './command.ts';
import { COMMANDS } from './command-list.ts';
import { COMMON_OPTIONS, type Options } from './options.ts';

/** Output of `--help` without a command. */
export function overview(): string {
  const rows = COMMANDS.map(({ usage, summary }) => [`  dragoman ${usage}`, summary]);
  return `dragoman: one endpoint in front of every model provider

${lines(rows)}

Options of all commands:
${optionLines({ ...COMMON_OPTIONS, ...ALWAYS })}

\`dragoman COMMAND --help\` describes one command. Options follow the command.
With npm, put two dashes before options: npm start -- --port 4001
`;
}

/** Output of `--help` for one command. */
export function helpOf({ usage, summary, actions, options }: Command): string {
  const own = Object.keys(options).length > 0 ? `\nOptions:\n${optionLines(options)}\n` : '';
  const rows = Object.entries(actions ?? {}).map(([name, text]) => [`  ${name}`, text]);
  return `dragoman ${usage} [OPTIONS]: ${summary}
${rows.length > 0 ? `\nActions:\n${lines(rows)}\n` : ''}${own}
Options of all commands:
${optionLines({ ...COMMON_OPTIONS, ...ALWAYS })}
`;
}

const ALWAYS: Options = {
  help: { text: 'print this help' },
  version: { text: 'print the version' },
};

function optionLines(options: Options): string {
  return lines(
    Object.entries(options).map(([name, { value, multiple, opposite, text }]) => [
      `  --${opposite ? '[no-]' : ''}${name}${value === undefined ? '' : ` ${value}`}`,
      multiple ? `${text} (repeatable)` : text,
    ]),
  );
}

function lines(rows: readonly (readonly string[])[]): string {
  return padColumns(rows)
    .map((row) => row.join('  ').trimEnd())
    .join('\n');
}
