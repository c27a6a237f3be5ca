// One output item while it is streamed: its content so far.
import type { JsonValue } from '../../../base/json/index.ts';
import type {
  Annotation,
  HostedFacts,
  Item,
  OpaqueReasoning,
  OpenItem,
  Part,
  Source,
} from '../../../canonical/index.ts';

/** `text` and `refusal` are parts of messages, `reasoning` and `summary` of reasoning. */
export type PartKind = 'text' | 'refusal' | 'reasoning' | 'summary';

export class PartDraft {
  readonly kind: PartKind;
  /** Index among the parts of the same list. */
  readonly index: number;
  text = '';
  readonly annotations: Annotation[] = [];
  readonly logprobs: JsonValue[] = [];
  /** Cached prefix of every delta of the part. */
  head = '';

  constructor(kind: PartKind, index: number) {
    this.kind = kind;
    this.index = index;
  }

  /** Returns the canonical part of a message. */
  part(): Part {
    const { text, annotations, logprobs } = this;
    return this.kind === 'refusal'
      ? { type: 'refusal', refusal: text }
      : { type: 'text', text, annotations, logprobs };
  }
}

export class ItemDraft {
  readonly open: OpenItem;
  readonly id: string;
  /** Output index. */
  readonly place: number;
  /** Parts in the order in which they began. */
  readonly parts: PartDraft[] = [];
  /** Parts by canonical number. */
  readonly #counted: Readonly<Record<Exclude<PartKind, 'refusal'>, PartDraft[]>> = {
    text: [],
    reasoning: [],
    summary: [],
  };
  arguments = '';
  /** Cached prefix of every delta of the arguments. */
  argumentsHead = '';
  opaque: OpaqueReasoning | undefined;
  source: Source | undefined;
  facts: HostedFacts | undefined;
  isClosed = false;
  /** Number of parts in each list. */
  readonly #places = { text: 0, reasoning: 0, summary: 0 };

  constructor(open: OpenItem, id: string, place: number) {
    this.open = open;
    this.id = id;
    this.place = place;
  }

  /** Finds the part with a canonical number. Parts of a message are counted together, those of reasoning by kind. */
  find(kind: PartKind, number: number): PartDraft | undefined {
    return this.#counted[countOf(kind)][number];
  }

  /**
   * Adds a part.
   * @param shown kind for the client: a chain of thought can be shown as a summary and is numbered with its parts
   */
  add(kind: PartKind, shown: PartKind): PartDraft {
    const part = new PartDraft(shown, this.#places[countOf(shown)]++);
    this.#counted[countOf(kind)].push(part);
    this.parts.push(part);
    return part;
  }

  /** Returns the item as far as it is known. */
  item(): Item {
    const { open } = this;
    const source = this.source ? { source: this.source } : {};
    const texts = (kind: PartKind): string[] =>
      this.parts.filter((part) => part.kind === kind).map((part) => part.text);
    switch (open.type) {
      case 'message':
        return { ...open, role: 'assistant', parts: this.parts.map((part) => part.part()), ...source };
      case 'reasoning':
        return {
          ...open,
          text: texts('reasoning'),
          summary: texts('summary'),
          opaque: this.opaque,
          ...source,
        };
      case 'tool_call':
        return { ...open, arguments: this.arguments, ...source };
      case 'hosted_call':
        return { ...open, ...source, ...(this.facts ? { facts: this.facts } : {}) };
      default:
        return { ...open, ...source };
    }
  }
}

/** Texts and refusals are counted together. */
function countOf(kind: PartKind): Exclude<PartKind, 'refusal'> {
  return kind === 'refusal' ? 'text' : kind;
}
