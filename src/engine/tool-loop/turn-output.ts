// One model turn of an answer with several turns: passes client-visible events on with the indices of the whole answer,
// and collects tool calls of the gateway and the finish. Runs no tools.
import type {
  Annotation,
  CanonicalEvent,
  FinishEvent,
  HostedCallItem,
  HostedFacts,
  Item,
  OpenEvent,
  TextEvent,
  Usage,
} from '../../canonical/index.ts';
import { Collector } from '../../canonical/index.ts';
import type { GatewayCall } from '../tools/gateway-tool.ts';
import { CitationFinder, type Sources } from '../tools/sources.ts';
import type { Attempt, AttemptOutput } from '../attempt/index.ts';
import type { ClientAnswer } from '../answer/index.ts';

/** Operations that a turn needs from its answer. */
export interface TurnHost {
  readonly client: ClientAnswer;
  /** False: nothing reaches the client before the turn is complete. */
  readonly streamed: boolean;
  readonly sources: Sources;
  /** True for the name of a function that the gateway runs. */
  has(name: string): boolean;
  /** Begins a call. Null: it is refused, which the model is told. @param made calls of this turn so far */
  begin(name: string, text: string, made: number): GatewayCall | null;
  /** The next index in the whole answer. */
  nextIndex(): number;
  /** A new id for an item. */
  newId(facts: HostedFacts): string;
  /** Items to show before anything else in this turn, unless an earlier turn showed them. */
  prelude(by: Attempt): readonly HostedFacts[];
}

/** A call of a gateway tool. */
export interface HostedCall {
  readonly callId: string;
  readonly name: string;
  /** Null: it was refused. */
  readonly call: GatewayCall | null;
  /** Index in the whole answer. Undefined: not shown. */
  readonly index: number | undefined;
  readonly item: HostedCallItem | undefined;
}

/** Result of a turn. */
export interface EndedTurn {
  /** True: the upstream's bytes were relayed, and the answer is complete. */
  readonly relayed: boolean;
  /** Items of the prelude that were sent. */
  readonly prelude: readonly HostedFacts[];
  readonly items: readonly Item[];
  readonly calls: readonly HostedCall[];
  /** True when a client tool was called. */
  readonly callsClient: boolean;
  readonly usage: Usage | undefined;
  readonly finish: FinishEvent | undefined;
}

/** Item of a gateway tool. */
function hostedItem(facts: HostedFacts, host: Pick<TurnHost, 'newId'>): HostedCallItem {
  return { type: 'hosted_call', kind: facts.type, id: host.newId(facts), facts };
}

/** Shows a complete item. */
export function showWhole(
  facts: HostedFacts,
  host: Pick<TurnHost, 'newId' | 'nextIndex'>,
  show: (event: CanonicalEvent) => void,
): void {
  const index = host.nextIndex();
  show({ type: 'open', index, item: hostedItem(facts, host) });
  show({ type: 'close', index, facts });
}

interface Held {
  readonly callId: string;
  readonly name: string;
  text: string;
}

/** State that each attempt resets. */
class Draft {
  readonly collector = new Collector();
  readonly buffer: CanonicalEvent[] = [];
  /** The client's index, by the upstream's index. */
  readonly indices = new Map<number, number>();
  readonly held = new Map<number, Held>();
  readonly calls: HostedCall[] = [];
  prelude: readonly HostedFacts[] = [];
  readonly finders = new Map<string, CitationFinder>();
  callsClient = false;
  usage: Usage | undefined;
  finish: FinishEvent | undefined;
}

export class TurnOutput implements AttemptOutput {
  readonly keeps = true;
  committed = false;
  readonly #host: TurnHost;
  readonly #isFirst: boolean;
  #draft = new Draft();
  #by: Attempt | undefined;
  #relayed = false;

  /** @param isFirst true: the answer begins with this turn */
  constructor(host: TurnHost, isFirst: boolean) {
    this.#host = host;
    this.#isFirst = isFirst;
  }

  commit(by: Attempt): void {
    const { client, streamed } = this.#host;
    // Nothing of a whole answer was sent, so the output of an earlier attempt is discarded.
    if (!streamed) this.#draft = new Draft();
    this.#by = by;
    // Another attempt that completes a turn continues at the same position.
    if (this.#isFirst || this.committed) client.commit(by);
    else client.join(by);
    this.committed = streamed;
  }

  on(event: CanonicalEvent): void {
    this.#draft.collector.on(event);
    switch (event.type) {
      case 'start':
        if (this.#isFirst) this.#show(event);
        return this.#showPrelude();
      case 'open':
        return this.#open(event);
      case 'arguments': {
        const held = this.#draft.held.get(event.index);
        if (!held) return this.#showAt(event);
        held.text += event.text;
        return;
      }
      case 'close': {
        const held = this.#draft.held.get(event.index);
        if (held) return this.#begin(held);
        this.#endCitations(event.index);
        return this.#showAt(event);
      }
      case 'text':
        return this.#text(event);
      case 'reasoning':
      case 'annotate':
        return this.#showAt(event);
      // A whole answer has no place for it.
      case 'extra':
        if (this.#host.streamed) this.#showAt(event);
        return;
      case 'usage':
        this.#draft.usage = event.usage;
        return;
      case 'finish':
        this.#draft.finish = event;
        return;
      default:
        this.#show(event);
    }
  }

  relay(bytes: string): void {
    this.#relayed = true;
    this.#host.client.relay(bytes);
  }

  relayWhole(body: Buffer): void {
    this.#relayed = true;
    this.#host.client.relayWhole(body);
  }

  finishing(): void {
    if (this.#relayed) this.#host.client.finishing();
  }

  flush(): void {
    this.#host.client.flush();
  }

  /** Ends the turn. The client of a whole answer receives it now. */
  end(): EndedTurn {
    const { collector, buffer, prelude, calls, callsClient, usage, finish } = this.#draft;
    for (const event of buffer.splice(0)) this.#host.client.on(event);
    const { items } = collector.result();
    return { relayed: this.#relayed, prelude, items, calls, callsClient, usage, finish };
  }

  #showPrelude(): void {
    if (!this.#by) return;
    this.#draft.prelude = this.#host.prelude(this.#by);
    for (const facts of this.#draft.prelude) showWhole(facts, this.#host, (event) => this.#show(event));
  }

  #open(event: OpenEvent): void {
    const { item, index } = event;
    if (item.type === 'tool_call' && item.kind === 'function' && this.#host.has(item.name)) {
      this.#draft.held.set(index, { callId: item.callId, name: item.name, text: '' });
      return;
    }
    if (item.type === 'tool_call') this.#draft.callsClient = true;
    const own = this.#host.nextIndex();
    this.#draft.indices.set(index, own);
    this.#show({ ...event, index: own });
  }

  /** Begins a call whose arguments are complete, and shows it to the client. */
  #begin({ callId, name, text }: Held): void {
    const { calls } = this.#draft;
    const call = this.#host.begin(name, text, calls.filter((each) => each.call !== null).length);
    if (!call) {
      calls.push({ callId, name, call, index: undefined, item: undefined });
      return;
    }
    const item = hostedItem(call.question ?? call.facts, this.#host);
    const index = this.#host.nextIndex();
    calls.push({ callId, name, call, index, item });
    this.#show({ type: 'open', index, item });
    if (call.question) this.#show({ type: 'close', index, facts: item.facts });
  }

  #text(event: TextEvent): void {
    this.#showAt(event);
    if (event.kind !== 'text' || this.#host.sources.size === 0) return;
    const { finders } = this.#draft;
    const key = `${event.index}.${event.part}`;
    let finder = finders.get(key);
    if (!finder) finders.set(key, (finder = new CitationFinder(this.#host.sources)));
    this.#annotate(event.index, event.part, finder.push(event.text));
  }

  #endCitations(index: number): void {
    for (const [key, finder] of this.#draft.finders) {
      const [own, part] = key.split('.').map(Number);
      if (own === index) this.#annotate(index, part ?? 0, finder.end());
    }
  }

  #annotate(index: number, part: number, annotations: readonly Annotation[]): void {
    for (const annotation of annotations) this.#showAt({ type: 'annotate', index, part, annotation });
  }

  #showAt(event: Extract<CanonicalEvent, { index: number }>): void {
    const index = this.#draft.indices.get(event.index);
    if (index !== undefined) this.#show({ ...event, index });
  }

  #show(event: CanonicalEvent): void {
    if (this.#host.streamed) this.#host.client.on(event);
    else this.#draft.buffer.push(event);
  }
}
