// Conversations and protocols of the playground. The types are independent of any protocol.

export interface Attachment {
  readonly name: string;
  readonly mediaType: string;
  /** Base64. */
  readonly data: string;
}

export interface Call {
  readonly id: string;
  readonly name: string;
  /** JSON; incomplete while it is streamed. */
  readonly arguments: string;
  /** True: the gateway or the provider runs the call, so the user need not enter a result. */
  readonly isRun: boolean;
  /** Result of a call with `isRun`; null while there is none. */
  readonly result: string | null;
}

export type Turn =
  | { readonly role: 'user'; readonly text: string; readonly files: readonly Attachment[] }
  | {
      readonly role: 'assistant';
      readonly text: string;
      readonly reasoning: string;
      readonly calls: readonly Call[];
      /** Status, times and error of the answer. */
      readonly facts: AnswerFacts;
    }
  | { readonly role: 'tool'; readonly results: readonly { readonly call: Call; readonly text: string }[] };

export type AssistantTurn = Extract<Turn, { role: 'assistant' }>;

interface AnswerFacts {
  readonly isRunning: boolean;
  /** Id of the request's record; null until the response begins. */
  readonly id: string | null;
  /** Milliseconds until the first content, and until the end. */
  readonly firstMs: number | null;
  readonly wholeMs: number | null;
  readonly error: string | null;
}

/** Settings of a request, other than its conversation. */
export interface Settings {
  readonly model: string;
  readonly system: string;
  /** Empty: the model's default. */
  readonly effort: '' | 'low' | 'medium' | 'high';
  readonly maxTokens: number;
  /** Empty: the model's default. */
  readonly temperature: string;
  readonly tools: readonly Tool[];
  /** URL of an MCP server whose tools the gateway runs; empty: none. */
  readonly mcp: string;
}

export interface Tool {
  readonly name: string;
  readonly description?: string | undefined;
  /** JSON Schema. */
  readonly parameters: Readonly<Record<string, unknown>>;
}

/** A piece of a streamed answer. */
export type Piece =
  | { readonly type: 'text' | 'reasoning'; readonly text: string }
  /** Pieces of one call share a key. The first one has the name. */
  | {
      readonly type: 'call';
      readonly key: string;
      readonly id?: string | undefined;
      readonly name?: string | undefined;
      readonly arguments?: string | undefined;
      readonly isRun?: boolean;
    }
  /** Result of a call with `isRun`. */
  | { readonly type: 'result'; readonly id: string; readonly text: string }
  | { readonly type: 'error'; readonly message: string };

/** Client side of one protocol. */
export interface Dialect {
  readonly id: string;
  readonly label: string;
  readonly path: (model: string) => string;
  readonly headers: (key: string) => Readonly<Record<string, string>>;
  readonly body: (turns: readonly Turn[], settings: Settings) => Readonly<Record<string, unknown>>;
  /** Parses one stream event. @param event its JSON data */
  readonly read: (event: Json) => readonly Piece[];
  /** Code that sends a body with the official libraries. */
  readonly libraries: { readonly python: LibraryCall; readonly typescript: LibraryCall };
}

export interface LibraryCall {
  /** Contains `BASE` for the gateway's origin, `KEY` for code that reads the key, and `BODY` for the request. */
  readonly template: string;
  /** Argument of the library call; absent: the whole body. */
  readonly given?: (body: Readonly<Record<string, unknown>>, model: string) => unknown;
}

/** Parsed JSON of unknown structure. */
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

/** Calls whose results the user must enter. */
export function openCalls({ calls }: AssistantTurn): readonly Call[] {
  return calls.filter(({ isRun }) => !isRun);
}

/** Arguments of a call; empty if they are incomplete or not a JSON object. */
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
