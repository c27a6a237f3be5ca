// `dragoman projects create|list|show|set|archive|restore`: projects of the embedded database.
import { ProjectCommands, type ProjectView } from '../../../accounts/auth/index.ts';
import { GatewayError } from '../../../canonical/index.ts';
import {
  jsonText,
  noAction,
  parseArguments,
  printRows,
  type Arguments,
  type RunCommand,
} from '../command.ts';
import { PROJECTS_OPTIONS } from '../options.ts';
import { limitsText, readLimits } from './limit-options.ts';
import { dateText, everyPage, withTenants } from './tenant-command.ts';

export const projects: RunCommand = async (argv) => {
  const args = parseArguments(argv, PROJECTS_OPTIONS);
  const word = args.words[0] ?? 'list';
  const action = ACTIONS.get(word);
  if (!action) throw noAction('projects', word, [...ACTIONS.keys()]);
  return withTenants(args, async (tenants) => {
    const found = await action(new ProjectCommands(tenants), args);
    if (args.json) process.stdout.write(jsonText(found));
    else printRows([found].flat().map(rowOf), COLUMNS, false);
  });
};

type Action = (commands: ProjectCommands, args: Arguments) => Promise<ProjectView | readonly ProjectView[]>;

const ACTIONS: ReadonlyMap<string, Action> = new Map<string, Action>([
  ['create', (commands, args) => commands.create({ name: nameOf(args), ...readLimits(args) })],
  ['list', list],
  ['show', (commands, args) => commands.find(nameOf(args))],
  ['set', (commands, args) => commands.change(nameOf(args), readLimits(args))],
  ['archive', (commands, args) => commands.archive(nameOf(args))],
  ['restore', (commands, args) => commands.restore(nameOf(args))],
]);

async function list(commands: ProjectCommands): Promise<readonly ProjectView[]> {
  const stored = await everyPage(async (after) => {
    const { entries, hasMore } = await commands.list({ ...after, order: 'asc' });
    return { entries, hasMore };
  });
  return [...commands.configured(), ...stored];
}

function nameOf(args: Arguments): string {
  const name = args.words[1];
  if (!name) throw new GatewayError('invalid_request', 'requires the name of a project');
  return name;
}

const COLUMNS = ['name', 'state', 'created', 'limits'];

function rowOf(project: ProjectView): Readonly<Record<string, string>> {
  return {
    name: project.id,
    state: project.state,
    created: project.createdAt === null ? 'in the file' : dateText(project.createdAt),
    limits: limitsText(project),
  };
}
