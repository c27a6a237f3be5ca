// A conversation as the playground has it, whatever the protocol says of it.

export interface Attachment {
  readonly name: string;
  readonly mediaType: string;
  /** Base64. */
  readonly data: string;
}

export interface Call {
  readonly id: string;
  readonly name: string;
  /** JSON, as far as it has come. */
  readonly arguments: string;
  /** True: the gateway or the provider runs it, and nobody need answer. */
  readonly isRun: boolean;
  /** Result of a call that is run; null: none yet. */
  readonly result: string | null;
}

export type Turn =
  | { readonly role: 'user'; readonly text: string; readonly files: readonly Attachment[] }
  | {
      readonly role: 'assistant';
      readonly text: string;
      readonly reasoning: string;
      readonly calls: readonly Call[];
      /** Model, times and cost of the answer. */
      readonly facts: AnswerFacts;
    }
  | { readonly role: 'tool'; readonly results: readonly { readonly call: Call; readonly text: string }[] };

export type AssistantTurn = Extract<Turn, { role: 'assistant' }>;

interface AnswerFacts {
  readonly isRunning: boolean;
  /** Id of the record; null until the answer begins. */
  readonly id: string | null;
  /** Milliseconds to the first content, and to the end. */
  readonly firstMs: number | null;
  readonly wholeMs: number | null;
  readonly error: string | null;
}

/** Members of a request besides its conversation. */
export interface Settings {
  readonly model: string;
  readonly system: string;
  /** Empty: as the model has it. */
  readonly effort: '' | 'low' | 'medium' | 'high';
  readonly maxTokens: number;
  /** Empty: as the model has it. */
  readonly temperature: string;
  readonly tools: readonly Tool[];
  /** Address of an MCP server whose tools the gateway runs; empty: none. */
  readonly mcp: string;
}

export interface Tool {
  readonly name: string;
  readonly description?: string | undefined;
  /** JSON Schema. */
  readonly parameters: Readonly<Record<string, unknown>>;
}

/** A piece of an answer as it comes. */
export type Piece =
  | { readonly type: 'text' | 'reasoning'; readonly text: string }
  /** Pieces of one call have one key; the first one names it. */
  | {
      readonly type: 'call';
      readonly key: string;
      readonly id?: string | undefined;
      readonly name?: string | undefined;
      readonly arguments?: string | undefined;
      readonly isRun?: boolean;
    }
  /** Result of a call that was run. */
  | { readonly type: 'result'; readonly id: string; readonly text: string }
  | { readonly type: 'error'; readonly message: string };

/** A protocol as a client speaks it. */
export interface Dialect {
  readonly id: string;
  readonly label: string;
  readonly path: (model: string) => string;
  readonly headers: (key: string) => Readonly<Record<string, string>>;
  readonly body: (turns: readonly Turn[], settings: Settings) => Readonly<Record<string, unknown>>;
  /** Reads one event of a stream. @param event its data, parsed */
  readonly read: (event: Json) => readonly Piece[];
  /** How the official libraries send a body. */
  readonly libraries: { readonly python: LibraryCall; readonly typescript: LibraryCall };
}

export interface LibraryCall {
  /** With `BASE` for the gateway's origin, `KEY` for how the key is read, and `BODY` for what is asked. */
  readonly template: string;
  /** Part of the body that the library is given. */
  readonly given?: (body: Readonly<Record<string, unknown>>, model: string) => unknown;
}

/** Parsed JSON of which nothing is known yet. */
export type Json = Readonly<Record<string, unknown>>;

export function object(value: unknown): Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : {};
}

export function list(value: unknown): readonly Json[] {
  return Array.isArray(value) ? value.map(object) : [];
}

export function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** The calls that somebody has to answer. */
export function openCalls({ calls }: AssistantTurn): readonly Call[] {
  return calls.filter(({ isRun }) => !isRun);
}

/** Arguments of a call; empty where they are no JSON object, or not yet. */
export function parsedArguments(call: Call): Json {
  try {
    return object(JSON.parse(call.arguments || '{}'));
  } catch {
    return {};
  }
}

export function dataUrl({ mediaType, data }: Attachment): string {
  return `data:${mediaType};base64,${data}`;
}

export function isPicture({ mediaType }: Attachment): boolean {
  return mediaType.startsWith('image/');
}
