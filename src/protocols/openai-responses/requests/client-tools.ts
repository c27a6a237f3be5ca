// Client tools of the Responses API (shells, patches, computer) as functions that any model can call. Converts their
// calls and outputs in both directions.
import { asArray, asObject, asString, isJsonArray, isJsonObject } from '../../../base/json/index.ts';
import type { JsonObject, JsonValue, MutableJsonObject } from '../../../base/json/index.ts';
import type { Part } from '../../../canonical/index.ts';

/** A tool that the client runs. */
export interface ClientTool {
  /** Types of the tool in a request. */
  readonly types: readonly string[];
  /** Name of the function that replaces it. */
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the function's arguments. */
  readonly parameters: JsonObject;
  readonly callType: string;
  readonly outputType: string;
  /** Returns the function's arguments for an item that calls the tool. */
  argumentsOf(call: JsonObject): JsonObject;
  /** Returns the item's members for a function's arguments; undefined if they are unusable. */
  callOf(args: JsonObject): JsonObject | undefined;
  /** Returns the names of members of a call or output that the function cannot express. Absent: none. */
  unsentOf?(item: JsonObject): readonly string[];
  /** Returns the content that a model reads for an item with the tool's output. */
  outputOf(output: JsonObject): { readonly parts: readonly Part[]; readonly isError: boolean };
}

const TEXT = { type: 'string' } as const;
const INTEGER = { type: 'integer' } as const;

function schema(properties: JsonObject, required: readonly string[]): JsonObject {
  return { type: 'object', properties, required, additionalProperties: false };
}

function text(value: string, isError = false): ReturnType<ClientTool['outputOf']> {
  return { parts: [{ type: 'text', text: value }], isError };
}

/** Returns the members with a value. */
function given(object: JsonObject): JsonObject {
  const out: MutableJsonObject = {};
  for (const key in object) if (object[key] !== undefined && object[key] !== null) out[key] = object[key];
  return out;
}

/** Reads a list of strings. Models may write one string instead of a list of one. */
function strings(value: JsonValue | undefined): readonly string[] | undefined {
  if (typeof value === 'string') return [value];
  if (!isJsonArray(value) || value.length === 0) return undefined;
  const out = value.filter((each) => typeof each === 'string');
  return out.length === value.length ? out : undefined;
}

/** `shell` (API reference, "Shell tool"; items `shell_call`, `shell_call_output`). */
const shell: ClientTool = {
  types: ['shell'],
  name: 'shell',
  description: "Runs shell commands on the user's machine and returns what they print and how they end.",
  parameters: schema(
    {
      commands: { type: 'array', items: TEXT, description: 'Commands, each run by the shell.' },
      timeout_ms: { ...INTEGER, description: 'Longest time that the commands may take, in milliseconds.' },
      max_output_length: { ...INTEGER, description: 'Longest output to return, in characters.' },
    },
    ['commands'],
  ),
  callType: 'shell_call',
  outputType: 'shell_call_output',
  argumentsOf: (call) => given(asObject(call['action'])),
  callOf(args) {
    const commands = strings(args['commands'] ?? args['command']);
    if (!commands) return undefined;
    const { timeout_ms = null, max_output_length = null } = args;
    return { action: { commands, timeout_ms, max_output_length }, environment: null };
  },
  outputOf: (output) => text(JSON.stringify(output['output'] ?? [])),
};

/** `local_shell` (API reference, "Local shell"; items `local_shell_call`, `local_shell_call_output`). */
const localShell: ClientTool = {
  types: ['local_shell'],
  name: 'local_shell',
  description: "Runs one command on the user's machine and returns what it prints.",
  parameters: schema(
    {
      command: { type: 'array', items: TEXT, description: 'The program and its arguments.' },
      env: { type: 'object', additionalProperties: TEXT, description: 'Environment variables to set.' },
      timeout_ms: { ...INTEGER, description: 'Longest time that the command may take, in milliseconds.' },
      user: { ...TEXT, description: 'User to run the command as.' },
      working_directory: { ...TEXT, description: 'Directory to run the command in.' },
    },
    ['command'],
  ),
  callType: 'local_shell_call',
  outputType: 'local_shell_call_output',
  argumentsOf(call) {
    const { type: _, ...action } = asObject(call['action']);
    return given(action);
  },
  callOf(args) {
    const command = strings(args['command']);
    if (!command) return undefined;
    const { timeout_ms, user, working_directory } = args;
    const env = isJsonObject(args['env']) ? args['env'] : {};
    return { action: { type: 'exec', command, env, ...given({ timeout_ms, user, working_directory }) } };
  },
  outputOf: (output) => text(asString(output['output']) ?? ''),
};

const OPERATIONS = ['create_file', 'update_file', 'delete_file'] as const;

/** `apply_patch` (API reference, "Apply patch"; items `apply_patch_call`, `apply_patch_call_output`). */
const applyPatch: ClientTool = {
  types: ['apply_patch'],
  name: 'apply_patch',
  description: "Creates, changes or deletes one file in the user's workspace.",
  parameters: schema(
    {
      type: { type: 'string', enum: OPERATIONS, description: 'What to do with the file.' },
      path: { ...TEXT, description: 'Path of the file, relative to the workspace.' },
      diff: {
        ...TEXT,
        description:
          'The change in the V4A diff format: lines of context as they are, added lines begin with +, removed lines with -, and @@ separates places. For a new file every line begins with +. Leave it out to delete.',
      },
    },
    ['type', 'path'],
  ),
  callType: 'apply_patch_call',
  outputType: 'apply_patch_call_output',
  argumentsOf: (call) => given(asObject(call['operation'])),
  callOf(args) {
    const type = OPERATIONS.find((each) => each === args['type']);
    const path = asString(args['path']);
    const diff = asString(args['diff']);
    if (type === undefined || !path) return undefined;
    if (type === 'delete_file') return { operation: { type, path } };
    return diff === undefined ? undefined : { operation: { type, path, diff } };
  },
  outputOf(output) {
    const status = asString(output['status']) ?? 'completed';
    return text(asString(output['output']) || status, status === 'failed');
  },
};

const ACTIONS = [
  'click',
  'double_click',
  'move',
  'screenshot',
  'drag',
  'scroll',
  'type',
  'keypress',
  'wait',
] as const;

/** JSON Schema of one action on a screen. */
const ACTION = schema(
  {
    type: { type: 'string', enum: ACTIONS, description: 'The action.' },
    x: { ...INTEGER, description: 'Pixels from the left: click, double_click, move, scroll.' },
    y: { ...INTEGER, description: 'Pixels from the top: click, double_click, move, scroll.' },
    button: { type: 'string', enum: ['left', 'right', 'wheel', 'back', 'forward'], description: 'click' },
    scroll_x: { ...INTEGER, description: 'Pixels to scroll to the right.' },
    scroll_y: { ...INTEGER, description: 'Pixels to scroll down.' },
    text: { ...TEXT, description: 'What to type.' },
    keys: { type: 'array', items: TEXT, description: 'Keys to press together: keypress.' },
    path: {
      type: 'array',
      items: schema({ x: INTEGER, y: INTEGER }, ['x', 'y']),
      description: 'Points to drag along.',
    },
  },
  ['type'],
);

/** Returns an action as the API has it; undefined for one that it does not have. */
function actionOf(args: JsonValue | undefined): JsonObject | undefined {
  if (!isJsonObject(args)) return undefined;
  const type = ACTIONS.find((each) => each === args['type']);
  if (type === undefined) return undefined;
  return type === 'click' ? { ...args, type, button: args['button'] ?? 'left' } : { ...args, type };
}

/** Members of both computer tools, whose items are `computer_call` and `computer_call_output`. */
const onScreen = {
  name: 'computer',
  callType: 'computer_call',
  outputType: 'computer_call_output',
  argumentsOf(call) {
    const actions = asArray(call['actions']);
    return actions.length > 0 ? { actions } : given(asObject(call['action']));
  },
  unsentOf(item) {
    return ['pending_safety_checks', 'acknowledged_safety_checks'].filter(
      (name) => asArray(item[name]).length > 0,
    );
  },
  outputOf(output) {
    const shot = asObject(output['output']);
    const url = asString(shot['image_url']);
    const id = asString(shot['file_id']);
    if (url) return { parts: [{ type: 'image', media: mediaOf(url) }], isError: false };
    if (id) return { parts: [{ type: 'image', media: { kind: 'file_id', id } }], isError: false };
    return text('The screen could not be captured.', true);
  },
} satisfies Partial<ClientTool>;

/** `computer_use_preview`: one action per call (API reference, "Computer use"). */
const computerPreview: ClientTool = {
  ...onScreen,
  types: ['computer_use_preview'],
  description:
    "Controls the user's screen, mouse and keyboard, one action per call. Every call returns a screenshot of the result.",
  parameters: ACTION,
  callOf(args) {
    const action = actionOf(args);
    return action && { action, pending_safety_checks: [] };
  },
};

/** `computer`, its successor: several actions per call (API reference, `ComputerTool`, 2026-11). */
const computer: ClientTool = {
  ...onScreen,
  types: ['computer'],
  description:
    "Controls the user's screen, mouse and keyboard. The actions of a call run in their order, and the call returns a screenshot of the result.",
  parameters: schema({ actions: { type: 'array', items: ACTION, minItems: 1 } }, ['actions']),
  callOf(args) {
    const actions = asArray(args['actions']).map(actionOf);
    if (actions.length === 0 || !actions.every((action) => action !== undefined)) return undefined;
    return { actions, pending_safety_checks: [] };
  },
};

function mediaOf(url: string): Extract<Part, { type: 'image' }>['media'] {
  const data = /^data:([^;,]*);base64,(.*)$/s.exec(url);
  return data
    ? { kind: 'base64', data: data[2] ?? '', mediaType: data[1] || undefined }
    : { kind: 'url', url };
}

/** All client tools. */
export const CLIENT_TOOLS: readonly ClientTool[] = [shell, localShell, applyPatch, computerPreview, computer];

const byType = new Map(CLIENT_TOOLS.flatMap((tool) => tool.types.map((type) => [type, tool] as const)));
const byCall = new Map(CLIENT_TOOLS.map((tool) => [tool.callType, tool]));
const byOutput = new Map(CLIENT_TOOLS.map((tool) => [tool.outputType, tool]));

/** Finds the client tool of a type in a request; undefined if the client does not run it. */
export function clientToolOf(type: string): ClientTool | undefined {
  return byType.get(type);
}

/** Finds the tool that an item of this type calls. */
export function clientToolOfCall(itemType: string): ClientTool | undefined {
  return byCall.get(itemType);
}

/** Finds the tool whose output an item of this type holds. */
export function clientToolOfOutput(itemType: string): ClientTool | undefined {
  return byOutput.get(itemType);
}
