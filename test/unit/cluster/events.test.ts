// Events between processes: only while somebody watches, no more than is agreed, and whatever others send.
import { beforeEach, expect, test } from 'bun:test';
import { EventHub, type LiveEvent } from '../../../src/operations/events/index.ts';
import { EventExchange } from '../../../src/cluster/exchange/events/index.ts';
import { RoutingExchange, type Topic } from '../../../src/cluster/exchange/index.ts';
import { MemoryRoutingState } from '../../../src/engine/routing/index.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { Board } from './board.ts';

const GATHER_MS = 250;
const WATCHED_MS = 15_000;
const PROCESSES = 4;
/** Share of a hundred for all. */
const SHARE = 25;

let clock: ManualClock;
let board: Board;
class Process {
  readonly routing: MemoryRoutingState;
  readonly hub: EventHub;
  readonly exchange: EventExchange;
  readonly received: LiveEvent[] = [];

  constructor(mostBytes?: number) {
    const { now } = clock;
    const breaker = () => ({ failures: 3, windowMs: 60_000, openMs: 30_000 });
    this.routing = new MemoryRoutingState({ now, breaker, isShared: true });
    this.hub = new EventHub(this.routing, clock);
    const pubSub = board.member();
    const processes = (): number => PROCESSES;
    this.exchange = new EventExchange({ pubSub, events: this.hub, clock, mostBytes, processes });
  }

  /** @returns what ends it */
  listen(): () => void {
    return this.hub.listen(
      (event) => this.received.push(event),
      () => {},
    );
  }

  raise(message: string, data = {}): void {
    const alert = { type: 'ledger.failing', id: message, quietMs: 0, isNoted: false, message, data } as const;
    if (this.hub.hasSubscribers) this.hub.alerted(alert);
  }

  messages(): readonly string[] {
    return this.received.map((event) => {
      if (event.type === 'alert') return event.alert.message;
      return event.type === 'lost' ? `${event.events} lost` : event.type;
    });
  }
}

let one: Process;
let two: Process;
let three: Process;
beforeEach(() => {
  clock = new ManualClock();
  board = new Board();
  [one, two, three] = [new Process(), new Process(), new Process()];
});

const reported = (topic: Topic): number => board.reported.filter((each) => each.topic === topic).length;

test('nothing is published while there are no subscribers', () => {
  two.raise('unseen');
  clock.advance(60_000);
  expect(board.reported).toEqual([]);
  expect(two.hub.hasSubscribers).toBe(false);
});

test('a subscriber of one process gets the events of all, each once', () => {
  one.listen();
  three.listen();
  one.raise('of one', { n: 1 });
  two.raise('of two');
  three.raise('of three');
  clock.advance(GATHER_MS);
  expect(one.messages().toSorted()).toEqual(['of one', 'of three', 'of two']);
  expect(three.messages().toSorted()).toEqual(['of one', 'of three', 'of two']);
  expect(two.received).toEqual([]);
  expect(three.received).toContainEqual({
    type: 'alert',
    alert: { type: 'ledger.failing', message: 'of one', data: { n: 1 } },
  });
});

test('events are published while there is a subscriber, and for a short time afterwards', () => {
  const leave = one.listen();
  clock.advance(10 * WATCHED_MS);
  two.raise('still');
  clock.advance(GATHER_MS);
  expect(one.messages()).toEqual(['still']);
  leave();
  clock.advance(WATCHED_MS);
  const before = reported('watching');
  two.raise('too late');
  clock.advance(WATCHED_MS);
  expect(reported('events')).toBe(1);
  expect(reported('watching')).toBe(before);
  expect(two.hub.hasSubscribers).toBe(false);
});

test('beyond its share a process publishes the latest events, and the number of those dropped', () => {
  one.listen();
  for (let n = 1; n <= SHARE + 3; n += 1) two.raise(`event ${n}`);
  clock.advance(GATHER_MS);
  expect(one.messages()).toHaveLength(SHARE + 1);
  expect(one.messages().slice(0, 1)).toEqual(['event 4']);
  expect(one.messages().slice(-2)).toEqual([`event ${SHARE + 3}`, '3 lost']);
  two.raise('next');
  clock.advance(GATHER_MS);
  expect(one.messages().slice(-1)).toEqual(['next']);
});

test('a message has a maximum size; excess content is lost and counted', () => {
  one.listen();
  two.raise('small');
  two.raise('too large', { text: 'x'.repeat(300_000) });
  two.raise('small again');
  clock.advance(GATHER_MS);
  expect(one.messages()).toEqual(['small', 'small again', '1 lost']);
  for (const { text } of board.reported) expect(text.length).toBeLessThan(262_145);
});

test('a large batch of events is split into short messages', () => {
  const short = new Process(1_000);
  one.listen();
  for (const n of [1, 2, 3, 4]) short.raise(`event ${n}`, { text: 'ä'.repeat(170) });
  short.raise('too large', { text: 'ä'.repeat(500) });
  clock.advance(GATHER_MS);
  expect(one.messages()).toEqual(['event 1', 'event 2', 'event 3', 'event 4', '1 lost']);
  const messages = board.reported.filter(({ topic }) => topic === 'events');
  expect(messages).toHaveLength(2);
  for (const { text } of messages) expect(Buffer.byteLength(text)).toBeLessThan(1_000);
});

test('a process that stops publishes the remaining events, and then nothing', () => {
  one.listen();
  two.raise('last');
  two.exchange.stop();
  expect(one.messages()).toEqual(['last']);
  two.raise('after it');
  clock.advance(GATHER_MS);
  expect(one.messages()).toEqual(['last']);
});

test('messages that are no events are ignored', () => {
  one.listen();
  const alert = { type: 'ledger.failing', message: 'real', data: {} };
  const words: readonly unknown[] = [
    null,
    7,
    [],
    [2, 0, [['alert', alert]]],
    [1, 0, null],
    [1, 'x', [null]],
    [1, '5', []],
    [1, -1, []],
    [1, 0, [['alert', null]]],
    [1, 0, [['alert', { ...alert, data: [] }]]],
    [1, 0, [['alert', { ...alert, message: 3 }]]],
    [1, 0, [['generation', { id: 1 }]]],
    [1, 0, [['generation', []]]],
    [1, 0, [['unknown', {}]]],
  ];
  const other = board.member();
  for (const word of words) other.publish('events', JSON.stringify(word));
  other.publish('events', '{');
  other.publish('events', JSON.stringify([1, 0, [['alert', { ...alert, message: 'x'.repeat(300_000) }]]]));
  other.publish('events', JSON.stringify([1, 0, [['alert', alert]]]));
  expect(one.messages()).toEqual(['real']);
});

test('a breaker that another process opened is reported once', () => {
  const routes = new Board();
  const exchanges = [one, two].map(
    ({ routing }) =>
      new RoutingExchange({ pubSub: routes.member(), routing, clock, processes: () => PROCESSES }),
  );
  one.listen();
  two.routing.disable({ modelId: 'sim/chat', slug: 'sim' }, clock.now() + 60_000, 'maintenance');
  clock.advance(5_000);
  expect(one.received).toEqual([
    {
      type: 'endpoint',
      change: expect.objectContaining({ state: 'open', slug: 'sim', reason: 'maintenance' }),
    },
  ]);
  for (const each of exchanges) each.stop();
});
