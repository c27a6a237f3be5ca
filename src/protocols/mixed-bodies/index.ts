// Lets the path of one protocol accept bodies in other forms: one editor posts them all to `/chat/completions`.
import type { RequestRoute, ServedProtocol, ServerCodec } from '../protocol.ts';
import {
  asArray,
  asObject,
  isJsonArray,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type MutableJsonObject,
} from '../../base/json/index.ts';
import {
  type CanonicalRequest,
  type ClientNames,
  GatewayError,
  type Item,
  nameResults,
  type Parameter,
  PARAMETERS,
  type ReasoningRequest,
  Report,
} from '../../canonical/index.ts';
import {
  formOfChoice,
  formOfElement,
  formOfTool,
  type MixedProtocol,
  reformChoice,
  reformTool,
  withImageBlocks,
} from './body-forms.ts';

/** Returns the protocol, extended to read bodies wholly or partly in other forms. @param readers decoders by form */
export function withMixedBodies(protocol: ServedProtocol, readers: Readers): ServedProtocol {
  const decodeRequest: ServedProtocol['server']['decodeRequest'] = (body, route) =>
    decodeMixed(body, readers, route);
  return { ...protocol, server: { ...protocol.server, decodeRequest } };
}

// Mixed bodies: each protocol's own decoder reads the members and elements in its form, at their positions in the
// client's body. This file assigns them and merges the results. The answer is always a chat completion, because the
// editor reads nothing else on this path (BerriAI/litellm #34029, diegosouzapw/OmniRoute #1002, both read 2026-11).

export type Readers = Readonly<Record<MixedProtocol, ServerCodec>>;

/** Member with the conversation, by protocol. */
const CONVERSATION = {
  'openai-chat': 'messages',
  'openai-responses': 'input',
  'anthropic-messages': 'messages',
} as const satisfies Record<MixedProtocol, string>;

/** Members that no chat client sends, so they identify the form of a body. */
const DISTINCTIVE: readonly (readonly [name: string, form: MixedProtocol])[] = [
  ['instructions', 'openai-responses'],
  ['max_output_tokens', 'openai-responses'],
  ['system', 'anthropic-messages'],
  ['stop_sequences', 'anthropic-messages'],
];

/** Members that control the form of the answer, which is that of Chat Completions. */
const ANSWER_MEMBERS: ReadonlySet<string> = new Set(['stream_options', 'usage']);

/** Members that refer to stored objects, which only another path supports. */
const STATEFUL = ['previous_response_id', 'conversation', 'prompt'] as const;

/**
 * Decodes a body posted to Chat Completions. A body wholly in that form goes to its decoder alone.
 * @throws GatewayError naming every invalid member by the client's name
 */
function decodeMixed(given: unknown, readers: Readers, route?: RequestRoute): CanonicalRequest {
  const body = asObject(given);
  const signs = findSigns(body);
  if (signs.length === 0) return readers['openai-chat'].decodeRequest(given, route);
  return new MixedDecoder(body, signs, readers).decode();
}

/** A member that has, or contains, the form of another protocol. */
interface Sign {
  readonly name: string;
  readonly form: MixedProtocol;
}

const NO_SIGNS: readonly Sign[] = [];

/** Returns each sign once. Nearly all bodies have none, so nothing is allocated before the first. */
function findSigns(body: JsonObject): readonly Sign[] {
  let signs: Sign[] | undefined;
  const note = (name: string, form: MixedProtocol | undefined): void => {
    if (form === undefined || form === 'openai-chat') return;
    signs ??= [];
    if (!signs.some((sign) => sign.name === name && sign.form === form)) signs.push({ name, form });
  };
  if (hasValue(body['input'])) note('input', 'openai-responses');
  for (const [name, form] of DISTINCTIVE) if (hasValue(body[name])) note(name, form);
  if (isJsonObject(body['text'])) note('text', 'openai-responses');
  if (isJsonObject(body['tool_choice'])) note('tool_choice', formOfChoice(body['tool_choice']));
  for (const name of ['messages', 'input'] as const)
    for (const element of asArray(body[name])) if (!isPlain(element)) note(name, formOfElement(element));
  for (const tool of asArray(body['tools'])) note('tools', formOfTool(tool));
  return signs ?? NO_SIGNS;
}

/** True for a text message, which every protocol writes alike. */
function isPlain(element: JsonValue): boolean {
  return (
    isJsonObject(element) && typeof element['role'] === 'string' && typeof element['content'] === 'string'
  );
}

/** False for empty values. */
function hasValue(value: JsonValue | undefined): boolean {
  return value !== undefined && value !== null && !(isJsonArray(value) && value.length === 0);
}

class MixedDecoder {
  readonly #body: JsonObject;
  readonly #signs: readonly Sign[];
  /** Protocols that read a part of the body, the main one first. */
  readonly #forms: readonly MixedProtocol[];
  readonly #readers: Readers;
  /** Protocol of the resulting request, by the member that holds the conversation. */
  readonly #main: 'openai-chat' | 'openai-responses';
  readonly #conversation: readonly JsonValue[];
  readonly #owners: readonly (MixedProtocol | undefined)[];
  /** Path prefixes of the decoders, with those of the client. */
  readonly #paths: (readonly [ours: string, theirs: string])[] = [];

  constructor(body: JsonObject, signs: readonly Sign[], readers: Readers) {
    this.#body = body;
    this.#signs = signs;
    this.#readers = readers;
    // If both are given, the path's own member wins.
    this.#main = hasValue(body['input']) && !hasValue(body['messages']) ? 'openai-responses' : 'openai-chat';
    this.#conversation = asArray(body[CONVERSATION[this.#main]]);
    this.#owners = this.#conversation.map(formOfElement);
    // Chat Completions always takes part, because it defines the answer's form and its options.
    this.#forms = [...new Set([this.#main, 'openai-chat', ...signs.map(({ form }) => form)] as const)];
  }

  decode(): CanonicalRequest {
    this.#refuseState();
    const main = this.#read(this.#main, this.#mainView());
    const others = this.#forms.slice(1).map((form) => this.#read(form, this.#view(form)));
    return this.#joined(main, others);
  }

  #read(form: MixedProtocol, view: JsonObject): CanonicalRequest {
    try {
      const request = this.#readers[form].decodeRequest(view);
      // `view` adds this limit if the client sent none, so it is not taken over.
      const isOurs = form === 'anthropic-messages' && !hasValue(this.#body['max_tokens']);
      return isOurs ? { ...request, maxOutputTokens: undefined } : request;
    } catch (thrown) {
      const error = GatewayError.from(thrown);
      const { kind, message, param, code, cause } = error;
      if (kind === 'internal') throw error;
      const details = {
        param: param === undefined ? undefined : this.#inClientForm(param, form),
        code,
        cause,
      };
      throw new GatewayError(kind, this.#inClientForm(message, form), details);
    }
  }

  /** Returns the body for the main protocol, without what only another one knows. */
  #mainView(): JsonObject {
    const main = this.#main;
    const view: MutableJsonObject = {};
    for (const name of Object.keys(this.#body))
      if (this.#ownerOf(name) === main) view[name] = this.#body[name];
    const place = CONVERSATION[main];
    // A string is the whole conversation.
    if (isJsonArray(this.#body[place])) view[place] = this.#elementsOf(main);
    const tools = this.#body['tools'];
    if (isJsonArray(tools))
      view['tools'] = tools.map((tool, index) => {
        const { value, paths } = reformTool(tool, main, `tools[${index}]`);
        this.#paths.push(...paths);
        return value;
      });
    const choice = this.#body['tool_choice'];
    if (choice !== undefined) view['tool_choice'] = reformChoice(choice, main);
    if (asObject(choice)['disable_parallel_tool_use'] === true) view['parallel_tool_calls'] = false;
    return view;
  }

  /** Returns the body for another protocol: its own members, and the elements in its form. */
  #view(form: MixedProtocol): JsonObject {
    const view: MutableJsonObject = {};
    for (const name of Object.keys(this.#body))
      if (this.#ownerOf(name) === form) view[name] = this.#body[name];
    view['model'] = this.#body['model'];
    view[CONVERSATION[form]] = this.#elementsOf(form);
    if (form === 'openai-chat') view['stream'] = this.#body['stream'];
    // Anthropic requires this member.
    if (form === 'anthropic-messages') view['max_tokens'] ??= 1;
    return view;
  }

  /**
   * Returns a sparse array with the elements that one protocol reads at their original indexes, because decoders name
   * elements by index. Never empty, because an empty list would be reported as the client's error.
   */
  #elementsOf(form: MixedProtocol): readonly JsonValue[] {
    const elements: JsonValue[] = [];
    elements.length = Math.max(1, this.#conversation.length);
    this.#conversation.forEach((element, index) => {
      if ((this.#owners[index] ?? this.#main) !== form) return;
      elements[index] = form === 'anthropic-messages' ? withImageBlocks(element) : element;
    });
    return elements;
  }

  /** Returns the protocol that reads a member: the main one for its own and unknown members, otherwise its owner. */
  #ownerOf(name: string): MixedProtocol | undefined {
    const main = this.#main;
    if (name === 'messages' || name === 'input') return name === CONVERSATION[main] ? main : undefined;
    if (ANSWER_MEMBERS.has(name)) return 'openai-chat';
    // Anthropic's member is preferred: Chat Completions' own `max_tokens` is deprecated and slightly different.
    if (name === 'max_tokens' && this.#forms.includes('anthropic-messages')) return 'anthropic-messages';
    return this.#forms.find((form) => this.#readers[form].members?.has(name)) ?? main;
  }

  /** Translates names and messages of a decoder to the client's form. */
  #inClientForm(text: string, form: MixedProtocol): string {
    return this.#paths.reduce((said, [from, to]) => said.replaceAll(from, to), this.#placed(text, form));
  }

  /** Does the same for text without paths into tools. */
  #placed(text: string, form: MixedProtocol): string {
    const [ours, theirs] = [CONVERSATION[form], CONVERSATION[this.#main]];
    return ours === theirs ? text : text.replaceAll(`${ours}[`, `${theirs}[`);
  }

  #joined(main: CanonicalRequest, others: readonly CanonicalRequest[]): CanonicalRequest {
    const joined: { -readonly [Key in keyof CanonicalRequest]: CanonicalRequest[Key] } = { ...main };
    const report = this.#report(main, others);
    const items = [...main.items];
    const losses = [main, ...others].flatMap(({ translationLosses = [], protocol }) =>
      translationLosses.map((loss) => ({
        ...loss,
        path: this.#placed(loss.path, protocol as MixedProtocol),
      })),
    );
    for (const other of others) {
      for (const item of other.items) items.push(this.#renamed(item, other));
      fill(joined, other);
      joined.reasoning = filledReasoning(joined.reasoning, other.reasoning);
      joined.extra = { ...other.extra, ...joined.extra };
    }
    joined.items = nameResults(inOrder(items));
    if (joined.items.at(-1) !== main.items.at(-1)) joined.prefill = undefined;
    joined.translationLosses = losses;
    joined.report = report.speakAs(namesOf(this.#forms, this.#readers), this.#body);
    joined.raw = this.#body;
    joined.hybrid = true;
    const chat = [main, ...others].find(({ protocol }) => protocol === 'openai-chat');
    joined.streamUsage = chat?.streamUsage;
    joined.gateway = { ...joined.gateway, includeUsage: chat?.gateway.includeUsage };
    return joined;
  }

  #report(main: CanonicalRequest, others: readonly CanonicalRequest[]): Report {
    const report = new Report();
    for (const { name, form } of this.#signs)
      report.add(
        name,
        'defaulted',
        `has the format of ${form} and was read as such; the response is a chat completion`,
      );
    for (const { report: part, protocol } of [main, ...others])
      for (const { path, action, reason } of part.entries)
        report.add(this.#inClientForm(path, protocol as MixedProtocol), action, reason);
    if (hasValue(this.#body['input']) && this.#main === 'openai-chat')
      report.add('input', 'dropped', '`messages` takes precedence');
    if (this.#main === 'openai-responses' && this.#body['store'] === true)
      report.add('store', 'dropped', 'responses of this path are not stored');
    return report;
  }

  /** Returns an item with its path in the client's body. */
  #renamed(item: Item, { protocol }: CanonicalRequest): Item {
    const form = protocol as MixedProtocol;
    const path = item.path === undefined ? undefined : this.#placed(item.path, form);
    if (!('parts' in item)) return { ...item, path };
    const parts = item.parts.map((part) =>
      part.path === undefined ? part : { ...part, path: this.#placed(part.path, form) },
    );
    return { ...item, path, parts };
  }

  #refuseState(): void {
    const name = STATEFUL.find((member) => hasValue(this.#body[member]));
    if (name === undefined || this.#ownerOf(name) !== 'openai-responses') return;
    throw new GatewayError('unsupported', `${name}: is not supported on this path; use /responses`, {
      param: name,
    });
  }
}

/** Returns the names of members in each protocol whose form the body has. */
function namesOf(forms: readonly MixedProtocol[], readers: Readers): ClientNames {
  const names: Record<string, readonly string[]> = {};
  for (const form of forms)
    for (const [name, theirs] of Object.entries(readers[form].names))
      names[name] = [...(names[name] ?? [name]), ...theirs];
  return names;
}

/** Parameters that the main protocol lacks, or that another protocol has under its own name. */
const FILLED: readonly (keyof CanonicalRequest)[] = [
  'maxOutputTokens',
  ...(Object.keys(PARAMETERS) as Parameter[]),
  'responseFormat',
  'metadata',
];

/** Fills in missing members of a request from another reading of the same body. */
function fill(request: CanonicalRequest, from: CanonicalRequest): void {
  const names = FILLED.filter((name) => request[name] === undefined && from[name] !== undefined);
  Object.assign(request, Object.fromEntries(names.map((name) => [name, from[name]])));
}

/** Merges reasoning settings. A setting that is left to the model does not count. */
function filledReasoning(said: ReasoningRequest, other: ReasoningRequest): ReasoningRequest {
  const filled: Record<string, unknown> = {};
  for (const one of [other, said])
    for (const [name, value] of Object.entries(one))
      if (value !== undefined && name !== 'leaveToModel') filled[name] = value;
  return filled as ReasoningRequest;
}

/** Sorts items by their position in the conversation. Items outside of it come first. */
function inOrder(items: readonly Item[]): readonly Item[] {
  const place = ({ path = '' }: Item): number => Number(/^\w+\[(\d+)\]/.exec(path)?.[1] ?? -1);
  return items
    .map((item) => ({ item, at: place(item) }))
    .toSorted((one, other) => one.at - other.at)
    .map(({ item }) => item);
}
