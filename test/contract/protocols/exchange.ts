// A conversation in no protocol's words, and the facts in it: what one side said, line by line, so that what the other
// side understood can be compared. Knows no protocol and no gateway.
import { at, type Json } from '../../support/upstreams/json-path.ts';
import { CITY } from '../../support/city-schema.ts';

export interface Call {
  readonly id: string;
  readonly name: string;
  readonly args: { readonly [name: string]: Json };
}
export interface Result {
  readonly id: string;
  readonly name: string;
  readonly text: string;
  /** A PNG in base64, beside the text. */
  readonly image?: string;
  readonly failed?: true;
}
export interface UserTurn {
  readonly user: string;
  /** Base64. */
  readonly image?: string;
  readonly pdf?: string;
  readonly pdfName?: string;
  /** A WAV file. */
  readonly audio?: string;
  readonly imageUrl?: string;
  readonly pdfUrl?: string;
}
/** One side's turn; `own` is an answer as its client gives it back, in the client's own protocol. */
export type Turn =
  | UserTurn
  | { readonly assistant: string; readonly calls?: readonly Call[] }
  /** `beside`: what the user says together with the results. */
  | { readonly results: readonly Result[]; readonly beside?: string }
  | { readonly own: readonly Json[] }
  /** Instruction of the developer in the middle of the conversation. */
  | { readonly instruct: string };

/** Which of its tools a model may or must call. */
export type Choice =
  | 'none'
  | 'required'
  | { readonly name: string }
  /** One of these, though others are declared. */
  | { readonly allowed: readonly string[] };

/** How tokens are chosen. */
export interface Sampling {
  readonly temperature: number;
  readonly topP: number;
  readonly topK: number;
  readonly seed: number;
  readonly frequencyPenalty: number;
  readonly presencePenalty: number;
}

export interface Question {
  readonly system?: readonly string[];
  readonly turns: readonly Turn[];
  readonly tools?: readonly string[];
  readonly strictTools?: true;
  readonly choice?: Choice;
  /** At most one call in an answer. */
  readonly oneCall?: true;
  /** The model may search the web; of what is near the city, on pages of the domain. */
  readonly search?: { readonly city?: string; readonly domain?: string };
  readonly verbosity?: string;
  /** The prompt may be cached up to the end of the instructions, of the tools, and of the first turn. */
  readonly cached?: true;
  /** User that the client answers for. */
  readonly user?: string;
  readonly sampling?: Partial<Sampling>;
  readonly schema?: Json;
  readonly stop?: string;
  readonly limit?: number;
  readonly logprobs?: number;
  readonly reasoning?: true;
}

/** Hidden state without text is redacted reasoning. */
export interface Thought {
  readonly text: string;
  readonly state?: string;
}
export type Finish = 'stop' | 'length' | 'calls' | 'filter' | 'refusal' | 'sequence' | 'pause';

export interface Token {
  readonly token: string;
  readonly logprob: number;
}
export interface Page {
  readonly url: string;
  readonly title: string;
}

export interface Answer {
  readonly thoughts?: readonly Thought[];
  readonly text?: string;
  readonly refusal?: string;
  readonly calls?: readonly Call[];
  /** The upstream gives its calls no ids, where its protocol lets it. */
  readonly withoutIds?: true;
  /** The last words of the text, and the page that they are from. */
  readonly cited?: Page & { readonly words: string };
  /** Search of the upstream before its answer, and what it found. */
  readonly searched?: { readonly query: string; readonly pages: readonly Page[] };
  readonly finish: Finish;
  readonly stoppedBy?: string;
  /** With what else might have been chosen. */
  readonly tokens?: readonly (Token & { readonly top: readonly Token[] })[];
  readonly usage?: Readonly<Partial<Counts>>;
}
export interface Counts {
  /** All input, what was read from a cache and written to it included. */
  readonly input: number;
  readonly cached: number;
  readonly written: number;
  /** All output, reasoning included. */
  readonly output: number;
  readonly reasoning: number;
}

/** How a protocol says things, as its client and as its server. Written against its own documentation. */
export interface Face {
  /** A client's body. */
  ask(question: Question, model: string, stream: boolean): object;
  /** The facts in a body that an upstream received. */
  understood(body: unknown): string[];
  /** Body of an upstream's whole answer. */
  whole(answer: Answer): object;
  stream(answer: Answer): string;
  /** A stream as the whole answer that its client puts together. Throws when it is no complete stream. */
  gather(text: string): Json;
  /** The facts in an answer that a client received. */
  received(body: unknown): string[];
  /** The ids of the calls in an answer that a client received, in their order: its results name them. */
  callIds(body: unknown): string[];
  /** The answer as such a client sends it back. @param forgets true: without its reasoning */
  giveBack(body: unknown, forgets: boolean): readonly Json[];
}

export const COUNTS: Counts = { input: 100, cached: 0, written: 0, output: 20, reasoning: 0 };
export const toolText = (name: string): string => `Knows the ${name}`;

const joined = (texts: readonly string[]): string => texts.join(' ').replaceAll(/\s+/g, ' ').trim();
const sorted = (value: unknown): unknown =>
  typeof value !== 'object' || value === null
    ? value
    : Array.isArray(value)
      ? value.map(sorted)
      : Object.fromEntries(
          Object.entries(value)
            .toSorted(([a], [b]) => (a < b ? -1 : 1))
            .map(([name, member]) => [name, sorted(member)]),
        );
export const canon = (value: unknown): string => JSON.stringify(sorted(value));

const GROWING: ReadonlySet<string> = new Set(['assistant', 'text', 'thought', 'refusal']);

/** Writes down what was understood; calls are known by their place, as ids may change on the way. */
export class Notes {
  readonly facts: string[] = [];
  readonly #system: string[] = [];
  readonly #calls: string[] = [];
  readonly #names: unknown[] = [];

  note(kind: string, value: unknown): void {
    if (value === undefined || value === null || value === '') return;
    const fact = `${kind}: ${typeof value === 'string' ? value : canon(value)}`;
    const last = this.facts.at(-1);
    // Text that goes on is one text, wherever it was cut.
    if (last?.startsWith(`${kind}: `) && GROWING.has(kind))
      this.facts[this.facts.length - 1] = last + String(value);
    else this.facts.push(fact);
  }
  /** Bytes in a data URL, or in base64 as they are; else the address where they are. */
  media(kind: string, value: unknown): void {
    const text = String(value ?? '');
    this.note(/^https?:/.test(text) ? `${kind} address` : kind, text.replace(/^data:[^,]*,/, ''));
  }
  choice(value: unknown): void {
    if (value !== 'auto') this.note('choice', value);
  }
  system(text: string): void {
    this.#system.push(text);
  }
  /** @param args an object, or its JSON text */
  call(id: unknown, name: unknown, args: unknown): void {
    this.#calls.push(String(id));
    this.#names.push(name);
    const given: unknown = typeof args === 'string' ? JSON.parse(args) : args;
    this.note(`call ${this.#calls.length}`, `${String(name)} ${canon(given)}`);
  }
  /** @param name of the function, in protocols that repeat it */
  result(id: unknown, text: string, failed: boolean, name?: unknown): void {
    const at = this.#calls.indexOf(String(id));
    this.note(`${failed ? 'failed result' : 'result'} of call ${at + 1}`, text);
    if (name !== undefined && name !== this.#names[at]) this.note('result under the name', name);
  }
  usage(counts: Readonly<Partial<Record<keyof Counts, unknown>>>): void {
    for (const [name, count] of Object.entries(counts)) this.note(`usage ${name}`, Number(count ?? 0));
  }
  done(): string[] {
    if (this.#system.length > 0) this.facts.unshift(`system: ${joined(this.#system)}`);
    return this.facts;
  }
}

/** The facts of a question; those of turns that a client gives back are not in it. */
export function factsOfQuestion(question: Question): string[] {
  const notes = new Notes();
  for (const text of question.system ?? []) notes.system(text);
  for (const turn of question.turns) {
    if ('user' in turn) {
      notes.note('user', turn.user);
      notes.note('image', turn.image);
      notes.note('pdf', turn.pdf);
      notes.note('pdf name', turn.pdfName);
      notes.note('audio', turn.audio);
      notes.note('image address', turn.imageUrl);
      notes.note('pdf address', turn.pdfUrl);
    } else if ('instruct' in turn) notes.note('instruction', turn.instruct);
    else if ('assistant' in turn) {
      notes.note('assistant', turn.assistant);
      for (const { id, name, args } of turn.calls ?? []) notes.call(id, name, args);
    } else if ('results' in turn) {
      for (const { id, text, image, failed } of turn.results) {
        notes.result(id, text, failed === true);
        notes.note('image in result', image);
      }
      notes.note('user', turn.beside);
    }
  }
  for (const name of question.tools ?? []) noteTool(notes, name, toolText(name), CITY, false);
  for (const name of question.strictTools ? (question.tools ?? []) : []) notes.note('strict tool', name);
  notes.note('choice', question.choice);
  notes.note('one call', question.oneCall);
  noteSearching(notes, question.search);
  notes.note('verbosity', question.verbosity);
  notes.note('id of the user', question.user);
  if (question.cached) for (const place of ['instructions', 'tools', 'user']) notes.note('cached to', place);
  noteSampling(notes, question.sampling ?? {});
  notes.note('schema', question.schema);
  notes.note('schema enforced', question.schema === undefined ? undefined : true);
  notes.note('stop', question.stop);
  notes.note('limit', question.limit);
  notes.note('logprobs', question.logprobs);
  notes.note('reasoning', question.reasoning);
  return notes.done();
}

/** @param strict true: calls are held to the schema */
export function noteTool(
  notes: Notes,
  name: unknown,
  description: unknown,
  schema: unknown,
  strict: unknown,
): void {
  notes.note('tool', `${String(name)} ${String(description)} ${canon(schema)}`);
  notes.note('strict tool', strict === true ? name : undefined);
}

/** A schema without its title, which says its name where a protocol has no other place for that. */
export function untitled(schema: Json | undefined): Json | undefined {
  if (typeof schema !== 'object' || schema === null || Array.isArray(schema)) return schema;
  const { title: _, ...rest } = schema as Readonly<Record<string, Json>>;
  return rest;
}

/** @param sampling members that a body does not have are undefined */
export function noteSampling(
  notes: Notes,
  sampling: Readonly<Partial<Record<keyof Sampling, unknown>>>,
): void {
  for (const [name, value] of Object.entries(sampling)) notes.note(`sampling ${name}`, value);
}

/** A token and its alternatives, by the names that a protocol gives to their members. */
export function noteToken(notes: Notes, token: Json, top: readonly Json[], probability = 'logprob'): void {
  const others = top.map((other) => ` ${at(other, 'token')} ${at(other, probability)}`).join('');
  notes.note('token', `${at(token, 'token')} ${at(token, probability)}${others && ` among${others}`}`);
}

/** @param search undefined: the model may not search */
export function noteSearching(
  notes: Notes,
  search: { readonly city?: unknown; readonly domain?: unknown } | undefined,
): void {
  notes.note('search', search && true);
  notes.note('search near', search?.city);
  notes.note('search in', search?.domain);
}

export function noteSearch(notes: Notes, query: unknown, urls: readonly unknown[]): void {
  notes.note('searched', query);
  for (const url of urls) notes.note('found', url);
}

export function factsOfAnswer(answer: Answer): string[] {
  const notes = new Notes();
  for (const { text } of answer.thoughts ?? []) notes.note('thought', text);
  const { searched } = answer;
  if (searched)
    noteSearch(
      notes,
      searched.query,
      searched.pages.map(({ url }) => url),
    );
  notes.note('text', answer.text);
  notes.note('refusal', answer.refusal);
  for (const { id, name, args } of answer.calls ?? []) notes.call(id, name, args);
  if (answer.cited) notes.note('cites', `${answer.cited.words} (${answer.cited.title}, ${answer.cited.url})`);
  notes.note('finish', answer.finish);
  notes.note('stopped by', answer.stoppedBy);
  for (const { top, ...token } of answer.tokens ?? [])
    noteToken(
      notes,
      token,
      top.map((other) => ({ ...other })),
    );
  notes.usage({ ...COUNTS, ...answer.usage });
  return notes.done();
}

/** Lines of server-sent events as JSON; `[DONE]` is left out. */
export function eventsOf(text: string): Json[] {
  return text
    .split('\n\n')
    .flatMap((block) => block.split('\n').filter((line) => line.startsWith('data:')))
    .map((line) => line.slice('data:'.length).trim())
    .filter((data) => data !== '[DONE]')
    .map((data) => JSON.parse(data) as Json);
}

/** A text in two pieces, as streams bring it. */
export function halves(text: string): string[] {
  const middle = Math.floor(text.length / 2);
  return [text.slice(0, middle), text.slice(middle)].filter((half) => half !== '');
}
