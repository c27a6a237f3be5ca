// What of an answer its client has no place for: noted in the report of the generation, and told in words where there is
// nothing else. Stands in front of everything that takes the client's answer. Looks at items and citations, never at
// pieces of text; knows no protocol's forms.
import type {
  Annotation,
  CanonicalEvent,
  CloseEvent,
  EventSink,
  OpenItem,
  Report,
  Source,
} from '../../canonical/index.ts';
import { isJsonObject } from '../../canonical/index.ts';
import type { ApiCall } from '../call.ts';

/** Items that may have no place in another protocol. */
type Work = Extract<OpenItem, { type: 'hosted_call' | 'unknown' | 'compaction' }>;

export class AnswerLosses implements EventSink {
  readonly #next: EventSink;
  readonly #client: ApiCall['protocol'];
  readonly #report: () => Report;
  readonly #open = new Map<number, Work>();
  readonly #lost: string[] = [];
  /** True once there is anything that its reader can see. */
  #says = false;
  #items = 0;

  /**
   * @param next takes the answer as its client gets it
   * @param report asked at each loss: that of the attempt that answers
   */
  constructor(next: EventSink, client: ApiCall['protocol'], report: () => Report) {
    this.#next = next;
    this.#client = client;
    this.#report = report;
  }

  on(event: CanonicalEvent): void {
    switch (event.type) {
      case 'open':
        this.#onOpen(event.index, event.item);
        break;
      case 'close':
        this.#onClose(event);
        break;
      case 'annotate':
        this.#onAnnotate(event.index, event.annotation);
        break;
      case 'finish':
        if (!this.#says && this.#lost.length > 0) this.#tell();
        break;
      default:
    }
    this.#next.on(event);
  }

  #onOpen(index: number, item: OpenItem): void {
    this.#items = Math.max(this.#items, index + 1);
    if (item.type === 'message' || item.type === 'tool_call') this.#says = true;
    else if (item.type !== 'reasoning') this.#open.set(index, item);
  }

  #onClose({ index, source, facts }: CloseEvent): void {
    const item = this.#open.get(index);
    if (!item) return;
    this.#open.delete(index);
    const told = item.type === 'hosted_call' ? (facts ?? item.facts)?.type : item.type;
    // What searches and calls of servers found is in what the model then says of it. What a server offers is no part of an
    // answer; that it could not be asked is reported where it is noticed.
    if (told === 'web_search' || told === 'mcp' || told === 'mcp_tools') return;
    const isOwn = this.#isOwn(source ?? item.source);
    if (isOwn || (told !== undefined && told !== 'unknown' && this.#client.server.alsoTells.has(told))) {
      this.#says = true;
      return;
    }
    const name = nameOf(item);
    // An empty part of an answer says nothing to anybody.
    if (name === undefined) return;
    this.#lost.push(told === 'image' ? 'a picture' : name);
    this.#report().add(`output[${index}]`, 'dropped', `an answer of this protocol has no place for ${name}`);
  }

  #onAnnotate(index: number, annotation: Annotation): void {
    if (annotation.type === 'url_citation' || annotation.isTold || this.#isOwn(annotation.source)) return;
    const type = annotation.source.raw['type'];
    const kind = typeof type === 'string' ? ` of the type ${type}` : '';
    this.#report().add(
      `output[${index}].annotations`,
      'dropped',
      `an answer of this protocol has no place for a citation${kind}`,
    );
  }

  #isOwn(source: Source | undefined): boolean {
    return source?.protocol === this.#client.name;
  }

  /** An answer of nothing but what was dropped would look as if the model had said nothing. */
  #tell(): void {
    const index = this.#items;
    const what = [...new Set(this.#lost)].join(', ');
    const text = `[This protocol has no place for what the model answered with: ${what}.]`;
    this.#next.on({ type: 'open', index, item: { type: 'message' } });
    this.#next.on({ type: 'text', index, part: 0, kind: 'text', text });
    this.#next.on({ type: 'close', index });
  }
}

/** What an item is called in its own protocol: its type, or the one member that tells the kind of a part. */
function nameOf(item: Work): string | undefined {
  if (item.type !== 'unknown') return item.type === 'hosted_call' ? item.kind : 'a compacted conversation';
  const { raw } = item.source;
  const names = Object.keys(raw);
  return typeof raw['type'] === 'string'
    ? raw['type']
    : (names.find((name) => isJsonObject(raw[name])) ?? names[0]);
}
