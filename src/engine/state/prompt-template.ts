// Parses and renders prompt templates. Pure functions. Other members of a template are validated when the request is
// decoded.
import { asArray, isJsonObject } from '../../base/json/index.ts';
import { GatewayError, Problems } from '../../canonical/index.ts';
import type { JsonObject, JsonValue } from '../../base/json/index.ts';
import type { UnixMs } from '../../base/units.ts';

export interface PromptTemplate {
  /** Names of its variables, in order of appearance. */
  readonly variables: ReadonlySet<string>;
  /** System text with `{{variables}}`. */
  readonly instructions?: string | undefined;
  /** Messages of the Responses API, in raw form; `{{variables}}` in their texts. */
  readonly input: readonly JsonObject[];
  /** Members, including `model`, that a request takes from the template unless it sets them itself. */
  readonly defaults: JsonObject;
}

/** A template in an operator's file. */
export interface PromptFile {
  readonly id: string;
  readonly name: string | null;
  /** Unix milliseconds of the file's last modification. */
  readonly createdAt: UnixMs;
  readonly defaultVersion: string;
  /** Newest first. */
  readonly versions: readonly {
    readonly version: string;
    readonly createdAt: UnixMs;
    readonly template: JsonObject;
  }[];
}

/** Texts of a request with variables substituted. */
export interface RenderedPrompt {
  readonly instructions: string | undefined;
  readonly input: readonly JsonObject[];
  readonly defaults: JsonObject;
}

/** Members for which a template may hold a default. Members specific to one call are excluded. */
const DEFAULT_MEMBERS: ReadonlySet<string> = new Set([
  'include',
  'max_output_tokens',
  'max_tool_calls',
  'model',
  'model_routing_config',
  'models',
  'parallel_tool_calls',
  'provider',
  'reasoning',
  'temperature',
  'text',
  'tool_choice',
  'tools',
  'top_logprobs',
  'top_p',
  'truncation',
]);

const ROLES: ReadonlySet<JsonValue | undefined> = new Set(['user', 'assistant', 'system', 'developer']);
/** A name in double braces; anything else in braces is literal text. */
const VARIABLE = /\{\{\s*([A-Za-z_][\w.-]{0,63})\s*\}\}/g;
/** A text that consists of one variable. */
const WHOLE_VARIABLE = /^\s*\{\{\s*([A-Za-z_][\w.-]{0,63})\s*\}\}\s*$/;
/** Maximum occurrences of variables in a template. */
const MAX_PLACES = 100_000;
/** Maximum characters of a rendered template, equal to the maximum bytes of a body. */
const MAX_FILLED = 32 * 1024 * 1024;
/** Types of variable values other than strings (OpenAI API reference, `prompt.variables`). */
const VARIABLE_PARTS: ReadonlySet<JsonValue | undefined> = new Set([
  'input_text',
  'input_image',
  'input_file',
]);

/**
 * Validates and parses a template.
 * @param path of the template, for messages
 * @throws GatewayError `invalid_request` naming every invalid member
 */
export function parseTemplate(value: unknown, path: string): PromptTemplate {
  const problems = new Problems();
  if (!isJsonObject(value))
    throw new GatewayError('invalid_request', `${path}: must be an object with instructions or input`, {
      param: path,
    });
  const { instructions, input, ...others } = value;
  if (instructions !== undefined && instructions !== null && typeof instructions !== 'string')
    problems.add(`${path}.instructions`, 'must be a string');
  const messages = parseInput(input, `${path}.input`, problems);
  if (!instructions && messages.length === 0) problems.add(path, 'needs instructions or input');
  const allowed = `instructions, input, ${[...DEFAULT_MEMBERS].join(', ')}`;
  for (const name of Object.keys(others))
    if (!DEFAULT_MEMBERS.has(name))
      problems.add(`${path}.${name.slice(0, 64)}`, `is not a field of templates; the fields are ${allowed}`);
  const variables = findVariables(instructions, messages, path, problems);
  problems.throwIfAny();
  return {
    variables,
    instructions: typeof instructions === 'string' ? instructions : undefined,
    input: messages,
    defaults: others,
  };
}

function parseInput(input: JsonValue | undefined, path: string, problems: Problems): readonly JsonObject[] {
  if (input === undefined || input === null || input === '') return [];
  if (typeof input === 'string') return [{ type: 'message', role: 'user', content: input }];
  if (!Array.isArray(input)) {
    problems.add(path, 'must be a string or an array of messages');
    return [];
  }
  return asArray(input).flatMap((raw, index) => {
    const at = `${path}[${index}]`;
    if (!isJsonObject(raw) || (raw['type'] ?? 'message') !== 'message') {
      problems.add(at, 'must be a message');
      return [];
    }
    if (!ROLES.has(raw['role'])) problems.add(`${at}.role`, 'must be user, assistant, system or developer');
    const { content } = raw;
    if (typeof content !== 'string' && !(Array.isArray(content) && content.every(isPart)))
      problems.add(`${at}.content`, 'must be a string or an array of parts');
    return [{ ...raw, type: 'message' }];
  });
}

function isPart(part: unknown): boolean {
  if (!isJsonObject(part) || typeof part['type'] !== 'string') return false;
  return !part['type'].endsWith('text') || typeof part['text'] === 'string';
}

/** The names of the variables in the texts of a template. */
function findVariables(
  instructions: unknown,
  input: readonly JsonObject[],
  path: string,
  problems: Problems,
): ReadonlySet<string> {
  const names = new Set<string>();
  let places = 0;
  const scan = (text: string): void => {
    VARIABLE.lastIndex = 0;
    for (let match = VARIABLE.exec(text); match && ++places <= MAX_PLACES; match = VARIABLE.exec(text))
      names.add(match[1] ?? '');
  };
  if (typeof instructions === 'string') scan(instructions);
  for (const { content } of input) {
    if (typeof content === 'string') scan(content);
    else for (const part of asArray(content)) scan(textOf(part));
  }
  if (places > MAX_PLACES) problems.add(path, `must not contain more than ${MAX_PLACES} variables`);
  return names;
}

/**
 * Substitutes variables. Values are literal: braces in them have no meaning.
 * @param variables by name: a string, or one content part (`input_text`, `input_image`, `input_file`)
 * @throws GatewayError `invalid_request` for a variable that is missing, unknown or of another type, for an image or
 * file inside a text, and when the result exceeds 32 million characters
 */
export function renderTemplate(template: PromptTemplate, variables: JsonObject): RenderedPrompt {
  const problems = new Problems();
  const known = template.variables;
  const knownNames = listOf([...known]);
  for (const name of Object.keys(variables))
    if (!known.has(name)) problems.add(pathOf(name), `is not a variable of the template${knownNames}`);
  for (const name of known) {
    const value = variables[name];
    if (value === undefined || value === null) problems.add(pathOf(name), 'is required by the template');
    else if (typeof value !== 'string' && !(isJsonObject(value) && VARIABLE_PARTS.has(value['type'])))
      problems.add(pathOf(name), 'must be a string or an input_text, input_image or input_file part');
  }
  problems.throwIfAny();
  const filler = new Filler(variables, problems);
  const rendered = {
    instructions: template.instructions === undefined ? undefined : filler.fill(template.instructions),
    input: template.input.map((message) => renderMessage(message, filler)),
    defaults: template.defaults,
  };
  problems.throwIfAny();
  return rendered;
}

function renderMessage(message: JsonObject, filler: Filler): JsonObject {
  const { content } = message;
  if (typeof content === 'string') {
    const part = filler.partAlone(content);
    return { ...message, content: part ? [part] : filler.fill(content) };
  }
  return {
    ...message,
    content: asArray(content).map((part) => {
      if (!isJsonObject(part) || typeof part['text'] !== 'string') return part;
      return filler.partAlone(part['text']) ?? { ...part, text: filler.fill(part['text']) };
    }),
  };
}

/** Substitutes values for variables. */
class Filler {
  readonly #variables: JsonObject;
  readonly #problems: Problems;
  /** Lengths of images and files as JSON. */
  readonly #lengths = new Map<string, number>();
  #left = MAX_FILLED;

  constructor(variables: JsonObject, problems: Problems) {
    this.#variables = variables;
    this.#problems = problems;
  }

  fill(text: string): string {
    return text.replace(VARIABLE, (_, name: string) => {
      const value = asText(name, this.#variables[name], this.#problems);
      this.#spend(name, value.length);
      return value;
    });
  }

  /** The image or file whose variable is the whole text. */
  partAlone(text: string): JsonObject | undefined {
    const name = WHOLE_VARIABLE.exec(text)?.[1] ?? '';
    const value = this.#variables[name];
    if (!isJsonObject(value) || value['type'] === 'input_text') return undefined;
    const length = this.#lengths.get(name) ?? JSON.stringify(value).length;
    this.#lengths.set(name, length);
    this.#spend(name, length);
    return value;
  }

  /** One value may be substituted a million times. */
  #spend(name: string, characters: number): void {
    this.#left -= characters;
    if (this.#left >= 0) return;
    const path = pathOf(name);
    const message = `${path}: the template has more than ${MAX_FILLED} characters with its variables filled in`;
    throw new GatewayError('invalid_request', message, { param: path });
  }
}

function asText(name: string, value: JsonValue | undefined, problems: Problems): string {
  if (typeof value === 'string') return value;
  const text = isJsonObject(value) && value['type'] === 'input_text' ? value['text'] : undefined;
  if (typeof text === 'string') return text;
  problems.add(pathOf(name), 'must be a string, because the template uses it inside a text');
  return '';
}

function textOf(part: JsonValue): string {
  const text = isJsonObject(part) ? part['text'] : undefined;
  return typeof text === 'string' ? text : '';
}

function pathOf(name: string): string {
  return `prompt.variables.${name.slice(0, 64)}`;
}

function listOf(names: readonly string[]): string {
  return names.length === 0 ? '; it has none' : `; it has ${names.slice(0, 20).join(', ')}`;
}
